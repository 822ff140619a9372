/// @file rdd_partitions.hpp
/// Rdd's operations on whole partitions. Included by tenon/rdd.hpp. Not for programs.
#pragma once

#include "tenon/rdd.hpp"

namespace tenon {

namespace detail {

/// Text lines that a shell command makes of lines. In a task.
class TENON_API PipedProcess {
 public:
  /// Starts it. @throws Error (input_output) when that cannot be done
  explicit PipedProcess(const std::string& command);
  ~PipedProcess();  ///< kills it when it still runs
  PipedProcess(PipedProcess&&) noexcept;
  PipedProcess& operator=(PipedProcess&&) = delete;

  /// Text for its stdin is appended here, then send().
  std::string& buffer();
  /// Hands on what is in the buffer when that is much; takes meanwhile what it has written. False:
  /// it reads no more.
  bool send();
  /// No more text comes.
  void end_input();
  /// The next line that it wrote; nothing when it has ended. Waits. @throws Error (user_function)
  /// when its exit code is not 0
  bool next(std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

template <class T>
struct Pipe {
  std::vector<std::string> operator()(Records<T>& records, const std::string& command) const {
    PipedProcess process(command);
    for (T& record : records) {
      append_text(process.buffer(), record);
      process.buffer().push_back('\n');
      if (!process.send()) break;
    }
    process.end_input();
    std::vector<std::string> lines;
    for (std::string line; process.next(line);) lines.push_back(std::move(line));
    return lines;
  }
};

template <class T>
struct Glom {
  std::vector<std::vector<owned_t<T>>> operator()(Records<T>& records) const {
    return {CollectAll<T>{}(records)};
  }
};

/// f with the number of its partition in front.
template <class F>
struct WithIndex {
  using Inner = F;
  F f;
  struct Call {
    const F* f;
    int32_t partition;
    template <class R>
    decltype(auto) operator()(R& records) const {
      return std::invoke(*f, partition, records);
    }
  };
  [[nodiscard]] Call for_partition(int32_t partition) const { return {&f, partition}; }
};
}  // namespace detail

template <class T>
Rdd<std::string> Rdd<T>::pipe(const std::string& command, Location location) const {
  static_assert(detail::TextLike<T>,
                "pipe: records must be text, numbers, or pairs and tuples of these; map them to a "
                "std::string first");
  if constexpr (detail::TextLike<T>) {
    return map_partitions_at(detail::call_site("pipe", location),
                             detail::with_values(detail::Pipe<T>{}, command));
  }
}

template <class T>
auto Rdd<T>::glom(Location location) const {
  return map_partitions_at(detail::call_site("glom", location), detail::Glom<T>{});
}

template <class T>
template <class F>
auto Rdd<T>::map_indexed_at(CallSite site, F f) const {
  TENON_CHECK_FUNCTION(F, "map_partitions_with_index");
  if constexpr (detail::is_shippable_v<F>) {
    static_assert(std::is_invocable_v<const F&, int32_t, Records<T>&>,
                  "map_partitions_with_index: the function must take int32_t and "
                  "tenon::Records<T>& of this Rdd's element type T");
    if constexpr (std::is_invocable_v<const F&, int32_t, Records<T>&>) {
      using Indexed = detail::WithIndex<F>;
      static_assert(
          detail::RangeLike<detail::partition_range_t<Indexed, T>>,
          "map_partitions_with_index: the function must return a range, such as std::vector");
      if constexpr (detail::RangeLike<detail::partition_range_t<Indexed, T>>) {
        using Op = detail::MapPartitionsOperator<Indexed, T>;
        return narrow<typename Op::U>(
            std::move(site),
            detail::operator_of<Op>(detail::encode_function(Indexed{std::move(f)})), false);
      }
    }
  }
}

}  // namespace tenon
