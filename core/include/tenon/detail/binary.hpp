/// @file binary.hpp
/// Records of a fixed size in files. Not for programs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tenon/codec.hpp"
#include "tenon/detail/narrow.hpp"

namespace tenon::detail {

/// The bytes of a split's stretches, one after another. In a task.
class TENON_API SplitBytes {
 public:
  explicit SplitBytes(std::string_view split);
  ~SplitBytes();
  SplitBytes(const SplitBytes&) = delete;
  SplitBytes& operator=(const SplitBytes&) = delete;

  /// Reads up to size bytes, fewer only at the end of a stretch; 0 at the end of all. @throws Error
  /// (input_output) also when a file has become shorter since it was listed
  size_t read(char* to, size_t size);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// T: std::string, or a class whose bytes are its value. The bound bytes are the record's size.
template <class T>
class BinaryOperator final : public RddOperator {
 public:
  explicit BinaryOperator(std::string_view bytes) : record_bytes_(decode<uint64_t>(bytes)) {}
  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    return std::make_unique<Values>(static_cast<size_t>(record_bytes_), context.data(partition),
                                    context);
  }

 private:
  class Values final : public Stream<T> {
   public:
    Values(size_t record_bytes, std::string_view split, PartitionContext& context)
        : record_bytes_(record_bytes), bytes_(split), context_(context) {
      buffer_.resize(record_bytes_ *
                     std::max<size_t>(1, std::min(kBatchSize, kBytes / record_bytes_)));
    }
    std::span<T> next() override {
      return noting_failure(context_, [this] { return read(); });
    }

   private:
    static constexpr size_t kBytes = size_t{1} << 20;

    std::span<T> read() {
      context_.task().throw_if_killed();
      batch_.clear();
      const size_t got = bytes_.read(buffer_.data(), buffer_.size());
      for (size_t at = 0; at < got; at += record_bytes_) {
        const std::string_view record(buffer_.data() + at, record_bytes_);
        if constexpr (std::is_same_v<T, std::string>) {
          batch_.emplace(record);
        } else {
          ByteReader in(record);
          batch_.emplace(in.fixed<T>());
        }
      }
      return batch_.span();
    }

    size_t record_bytes_;
    SplitBytes bytes_;
    PartitionContext& context_;
    std::string buffer_;
    Batch<T> batch_;
  };

  uint64_t record_bytes_;
};

/// An Rdd without partitions.
template <class T>
class EmptyOperator final : public RddOperator {
 public:
  explicit EmptyOperator(std::string_view) {}
  StreamPtr open(PartitionContext&, int32_t) const override { return std::make_unique<None>(); }

 private:
  class None final : public Stream<T> {
   public:
    std::span<T> next() override { return {}; }
  };
};

}  // namespace tenon::detail
