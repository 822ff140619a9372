// Records, keys and results that cannot leave their stage. One case at a time is compiled, chosen
// by a macro; without one everything here is right.
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/tenon.hpp"

namespace {

struct User {
  std::string name;
  int age = 0;
  TENON_FIELDS(name, age)
  bool operator==(const User&) const = default;
  bool operator<(const User& other) const { return name < other.name; }
};
struct Unknown {  // no Codec
  std::string name;
};
struct Viewing {  // a member that does not travel
  std::string_view name;
  TENON_FIELDS(name)
};
struct WithoutEquality {
  int id = 0;
  TENON_FIELDS(id)
};
struct WithoutHash {  // a Codec by itself, but no hash
  int id = 0;
  bool operator==(const WithoutHash&) const = default;
};
struct Unordered {
  int id = 0;
  TENON_FIELDS(id)
  bool operator==(const Unordered&) const = default;
};
struct DeepWithoutHash {
  WithoutHash inner;
  TENON_FIELDS(inner)
  bool operator==(const DeepWithoutHash&) const = default;
};

template <class T>
using Rdd = tenon::Rdd<T>;
template <class K, class V = int>
using By = tenon::Rdd<std::pair<K, V>>;
using View = std::string_view;

[[maybe_unused]] void right(tenon::Context& ctx, const Rdd<View>& lines,
                            const By<View, View>& pairs, const By<User, User>& users) {
  static_cast<void>(lines.collect());
  static_cast<void>(lines.distinct().cache());
  static_cast<void>(pairs.group_by_key().collect());
  static_cast<void>(pairs.join(pairs).sort_by_key());
  static_cast<void>(pairs.cogroup(pairs, pairs, pairs).full_outer_join(pairs));
  static_cast<void>(
      users.reduce_by_key([](const User& a, const User&) { return a; }).sort_by_key().collect());
  static_cast<void>(ctx.parallelize(std::vector<User>()).distinct().first());
  // Views of any kind may live within a stage.
  static_cast<void>(lines.map([](View line) { return std::vector{line}; })
                        .map([](const auto& v) { return v.size(); })
                        .collect());
  lines.save_as_text_file("directory");
  lines.map([](View line) { return std::tuple(1, line, std::pair(2.5, std::string(line))); })
      .save_as_text_file("directory");
}

[[maybe_unused]] void run(tenon::Context& ctx, [[maybe_unused]] const Rdd<View>& lines,
                          const By<View, View>& pairs, const By<User, User>& users,
                          [[maybe_unused]] const Rdd<Unknown>& unknown,
                          [[maybe_unused]] const Rdd<std::vector<View>>& views,
                          [[maybe_unused]] const Rdd<std::span<int>>& spans) {
  right(ctx, lines, pairs, users);
#if defined(collect_without_codec)
  static_cast<void>(unknown.collect());
#elif defined(collect_async_without_codec)
  static_cast<void>(unknown.collect_async());
#elif defined(take_without_codec)
  static_cast<void>(unknown.take(1));
#elif defined(first_without_codec)
  static_cast<void>(unknown.first());
#elif defined(reduce_without_codec)
  static_cast<void>(unknown.reduce([](Unknown a, Unknown) { return a; }));
#elif defined(cache_without_codec)
  static_cast<void>(unknown.cache());
#elif defined(parallelize_without_codec)
  static_cast<void>(ctx.parallelize(std::vector<Unknown>()));
#elif defined(run_job_result_without_codec)
  ctx.run_job(
      lines, [](tenon::Records<View>&) { return Unknown{}; }, {0}, [](int32_t, const Unknown&) {});
#elif defined(collect_member_view)
  static_cast<void>(lines.map([](View line) { return Viewing{line}; }).collect());
#elif defined(collect_vector_of_views)
  static_cast<void>(views.collect());
#elif defined(collect_span)
  static_cast<void>(spans.collect());
#elif defined(collect_pair_with_vector_of_views)
  static_cast<void>(
      views.map([](std::vector<View> v) { return std::pair(1, std::move(v)); }).collect());
#elif defined(collect_pointer)
  static_cast<void>(lines.map([](View line) { return line.data(); }).collect());
#elif defined(cache_vector_of_views)
  static_cast<void>(views.cache());
#elif defined(cache_span)
  static_cast<void>(spans.cache());
#elif defined(cache_of_move_only)
  static_cast<void>(
      lines.map([](View line) { return std::make_unique<std::string>(line); }).cache());
#elif defined(shuffle_vector_of_views)
  static_cast<void>(
      views.map([](std::vector<View> v) { return std::pair(1, std::move(v)); }).group_by_key());
#elif defined(shuffle_span)
  static_cast<void>(spans.map([](std::span<int> s) { return std::pair(1, s); }).partition_by(2));
#elif defined(shuffle_span_key)
  static_cast<void>(
      spans.map([](std::span<int> s) { return std::pair(s, 1); }).reduce_by_key(std::plus<>{}));
#elif defined(shuffle_value_without_codec)
  static_cast<void>(unknown.map([](const Unknown& u) { return std::pair(1, u); }).group_by_key());
#elif defined(join_value_without_codec)
  static_cast<void>(
      unknown.map([](const Unknown& u) { return std::pair(std::string(), u); }).join(pairs));
#elif defined(distinct_without_codec)
  static_cast<void>(unknown.distinct());
#elif defined(key_without_codec)
  static_cast<void>(unknown.map([](const Unknown& u) { return std::pair(u, 1); }).group_by_key());
#elif defined(key_without_hash)
  static_cast<void>(
      lines.map([](View) { return std::pair(WithoutHash{}, 1); }).reduce_by_key(std::plus<>{}));
#elif defined(key_member_without_hash)
  static_cast<void>(
      lines.map([](View) { return std::pair(DeepWithoutHash{}, 1); }).reduce_by_key(std::plus<>{}));
#elif defined(key_without_equality)
  static_cast<void>(lines.map([](View) { return std::pair(WithoutEquality{}, 1); }).group_by_key());
#elif defined(sort_key_without_order)
  static_cast<void>(lines.map([](View) { return std::pair(WithoutHash{}, 1); }).sort_by_key());
#elif defined(sort_key_without_codec)
  static_cast<void>(
      spans.map([](std::span<int>) { return std::pair(std::vector<View>(), 1); }).sort_by_key());
#elif defined(join_of_different_keys)
  static_cast<void>(pairs.join(users));
#elif defined(sort_within_without_order)
  static_cast<void>(users.map([](const auto& p) { return std::pair(Unordered{p.second.age}, 1); })
                        .repartition_and_sort_within_partitions(2));
#elif defined(range_partitioner_without_order)
  static_cast<void>(
      lines.map([](View) { return std::pair(WithoutHash{}, 1); }).range_partitioner());
#elif defined(partitioner_with_capture)
  static_cast<void>(
      tenon::Partitioner<int>::custom([&ctx](int) { return ctx.stopped() ? 1 : 0; }, 2));
#elif defined(partitioner_of_another_key)
  static_cast<void>(
      tenon::Partitioner<int>::custom([](const std::string& s) { return int(s.size()); }, 2));
#elif defined(shuffle_codec_without_value)
  struct KeysOnly {
    static void write(tenon::ByteWriter& out, const std::string& key) { out.text(key); }
  };
  static_cast<void>(users.map([](const auto& p) { return std::pair(std::string(), p.second); })
                        .partition_by(2, KeysOnly{}));
#elif defined(left_outer_join_of_different_keys)
  static_cast<void>(pairs.left_outer_join(users));
#elif defined(right_outer_join_of_different_keys)
  static_cast<void>(pairs.right_outer_join(users));
#elif defined(full_outer_join_of_different_keys)
  static_cast<void>(pairs.full_outer_join(users));
#elif defined(cogroup_of_different_keys)
  static_cast<void>(pairs.cogroup(pairs, users));
#elif defined(cogroup_value_without_codec)
  static_cast<void>(pairs.cogroup(
      pairs, unknown.map([](const Unknown& u) { return std::pair(std::string(), u); })));
#elif defined(combined_value_without_codec)
  static_cast<void>(pairs.combine_by_key([](const std::string& v) { return Unknown{v}; },
                                         [](Unknown a, const std::string&) { return a; },
                                         [](Unknown a, const Unknown&) { return a; }));
#elif defined(save_without_text)
  users.save_as_text_file("directory");
#elif defined(save_vector)
  views.save_as_text_file("directory");
#elif defined(save_pair_with_vector)
  views.map([](std::vector<View> v) { return std::pair(1, std::move(v)); })
      .save_as_text_file("directory");
#endif
}

}  // namespace

int main() { static_cast<void>(&run); }
