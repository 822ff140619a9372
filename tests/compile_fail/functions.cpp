// Functions that cannot travel. One case at a time is compiled, chosen by a macro; without one
// everything here is right.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/tenon.hpp"

namespace {

struct Scale {  // state that travels
  int by = 1;
  TENON_FIELDS(by)
  int operator()(int x) const { return x * by; }
};
struct Plain {  // so does that of an aggregate of numbers
  int by = 1;
  int operator()(int x) const { return x * by; }
};
struct Pointing {
  const int* by = nullptr;
  int operator()(int x) const { return x * *by; }
};
struct Unknown {  // no Codec
  std::string name;
};
struct Word {
  std::string text;
  int size() const { return static_cast<int>(text.size()); }
  TENON_FIELDS(text)
};

using Ints = tenon::Rdd<int>;
using Pairs = tenon::Rdd<std::pair<int, int>>;
using Strings = tenon::Rdd<std::string>;
int twice(int x) { return 2 * x; }

[[maybe_unused]] void right(tenon::Context& ctx, const Ints& ints, const Pairs& pairs,
                            const Strings& strings) {
  static_cast<void>(ints.map([](int x) { return x + 1; }));
  static_cast<void>(ints.map([](auto x) { return x + 1; })
                        .map(twice)
                        .map(tenon::fn<twice>)
                        .map(Scale{2})
                        .map(Plain{3}));
  static_cast<void>(
      ints.map([](int x, int k, const std::string&) { return x + k; }, 3, std::string("text")));
  static_cast<void>(
      ints.filter([](int x, const std::vector<int>& of) { return x < of[0]; }, std::vector{1}));
  static_cast<void>(pairs.map_values(Scale{2}).reduce_by_key(std::plus<>{}));
  static_cast<void>(pairs.combine_by_key(Scale{2}, std::plus<>{}, std::plus<>{})
                        .aggregate_by_key(0.0, std::plus<>{}, std::plus<>{})
                        .fold_by_key(0, std::plus<>{}));
  static_cast<void>(strings.flat_map([](const std::string& s) { return std::vector{s.size()}; })
                        .reduce(std::plus<>{}));
  static_cast<void>(ints.aggregate(0.0, [](double sum, int x) { return sum + x; }, std::plus<>{}));
  ints.for_each([](int) {});
  ctx.run_job(
      ints, [](tenon::Records<int>& records) { return records.begin() == records.end(); }, {0},
      [](int32_t, bool) {});
}

class Program {
 public:
  [[maybe_unused]] void run(tenon::Context& ctx, const Ints& ints, const Pairs& pairs,
                            const Strings& strings) {
    [[maybe_unused]] int k = 3;
    [[maybe_unused]] const std::string text = "text";
    right(ctx, ints, pairs, strings);
#if defined(map_copy)
    static_cast<void>(ints.map([k](int x) { return x + k; }));
#elif defined(map_reference)
    static_cast<void>(ints.map([&k](int x) { return x + k; }));
#elif defined(map_default_copy)
    static_cast<void>(ints.map([=](int x) { return x + k; }));
#elif defined(map_this)
    static_cast<void>(ints.map([this](int x) { return x + member_; }));
#elif defined(map_functor_without_codec)
    static_cast<void>(ints.map(Pointing{&k}));
#elif defined(map_std_bind)
    static_cast<void>(ints.map(std::bind(std::plus<>{}, std::placeholders::_1, k)));
#elif defined(map_capture_with_values)
    static_cast<void>(ints.map([k](int x, int y) { return x + k + y; }, 1));
#elif defined(filter_capture)
    static_cast<void>(ints.filter([k](int x) { return x < k; }));
#elif defined(flat_map_capture)
    static_cast<void>(ints.flat_map([k](int x) { return std::vector{x, k}; }));
#elif defined(map_partitions_capture)
    static_cast<void>(ints.map_partitions([k](tenon::Records<int>&) { return std::vector{k}; }));
#elif defined(map_values_capture)
    static_cast<void>(pairs.map_values([k](int x) { return x + k; }));
#elif defined(reduce_by_key_capture)
    static_cast<void>(pairs.reduce_by_key([k](int a, int b) { return a + b + k; }));
#elif defined(reduce_capture)
    static_cast<void>(ints.reduce([k](int a, int b) { return a + b + k; }));
#elif defined(fold_capture)
    static_cast<void>(ints.fold(0, [k](int a, int b) { return a + b + k; }));
#elif defined(aggregate_capture)
    static_cast<void>(ints.aggregate(0, [k](int a, int b) { return a + b + k; }, std::plus<>{}));
#elif defined(for_each_capture)
    ints.for_each([&k](int x) { k += x; });
#elif defined(run_job_capture)
    ctx.run_job(ints, [k](tenon::Records<int>&) { return k; }, {0}, [](int32_t, int) {});
#elif defined(map_std_function)
    static_cast<void>(ints.map(std::function<int(int)>([](int x) { return x; })));
#elif defined(reduce_std_function)
    static_cast<void>(ints.reduce(std::function<int(int, int)>(std::plus<>{})));
#elif defined(map_std_function_with_values)
    static_cast<void>(ints.map(std::function<int(int, int)>(std::plus<>{}), 1));
#elif defined(map_member_function)
    static_cast<void>(strings.map([](std::string s) { return Word{s}; }).map(&Word::size));
#elif defined(map_value_pointer)
    static_cast<void>(ints.map([](int x, const int* p) { return x + *p; }, &k));
#elif defined(map_value_literal)
    static_cast<void>(ints.map([](int x, const char* p) { return x + *p; }, "text"));
#elif defined(map_value_reference_wrapper)
    static_cast<void>(ints.map([](int x, const int& y) { return x + y; }, std::ref(k)));
#elif defined(map_value_string_view)
    static_cast<void>(
        ints.map([](int, std::string_view s) { return s.size(); }, std::string_view(text)));
#elif defined(map_value_span)
    static_cast<void>(
        ints.map([](int, std::span<int> s) { return s.size(); }, std::span<int>(&k, 1)));
#elif defined(map_value_shared_pointer)
    static_cast<void>(ints.map([](int x, const std::shared_ptr<int>& p) { return x + *p; },
                               std::make_shared<int>(1)));
#elif defined(map_value_vector_of_views)
    static_cast<void>(ints.map([](int, const std::vector<std::string_view>& v) { return v.size(); },
                               std::vector<std::string_view>()));
#elif defined(map_value_without_codec)
    static_cast<void>(ints.map([](int, const Unknown& u) { return u.name; }, Unknown{}));
#elif defined(map_value_lambda)
    static_cast<void>(
        ints.map([](int x, const auto& f) { return f(x); }, [k](int x) { return x + k; }));
#elif defined(for_each_value_reference_wrapper)
    ints.for_each([](int x, int& sum) { sum += x; }, std::ref(k));
#elif defined(map_not_invocable)
    static_cast<void>(ints.map([](const std::string& s) { return s; }));
#elif defined(map_too_many_parameters)
    static_cast<void>(ints.map([](int x, int y) { return x + y; }));
#elif defined(map_mutable_reference)
    static_cast<void>(ints.map([](int& x) { return x; }));
#elif defined(map_void)
    static_cast<void>(ints.map([](int) {}));
#elif defined(filter_not_invocable)
    static_cast<void>(ints.filter([](const std::string&) { return true; }));
#elif defined(filter_not_bool)
    static_cast<void>(ints.filter([](int) { return std::string("yes"); }));
#elif defined(filter_void)
    static_cast<void>(ints.filter([](int) {}));
#elif defined(flat_map_not_invocable)
    static_cast<void>(ints.flat_map([](const std::string& s) { return std::vector{s}; }));
#elif defined(flat_map_no_range)
    static_cast<void>(ints.flat_map([](int x) { return x; }));
#elif defined(map_partitions_not_invocable)
    static_cast<void>(ints.map_partitions([](const std::vector<int>& v) { return v; }));
#elif defined(map_partitions_no_range)
    static_cast<void>(ints.map_partitions([](tenon::Records<int>&) { return 1; }));
#elif defined(map_values_not_invocable)
    static_cast<void>(pairs.map_values([](const std::string& s) { return s; }));
#elif defined(combine_by_key_capture)
    static_cast<void>(pairs.combine_by_key([](int v) { return v; }, std::plus<>{},
                                           [k](int a, int b) { return a + b + k; }));
#elif defined(aggregate_by_key_capture)
    static_cast<void>(
        pairs.aggregate_by_key(0, [k](int a, int b) { return a + b + k; }, std::plus<>{}));
#elif defined(aggregate_by_key_std_function)
    static_cast<void>(
        pairs.aggregate_by_key(0, std::plus<>{}, std::function<int(int, int)>(std::plus<>{})));
#elif defined(fold_by_key_capture)
    static_cast<void>(pairs.fold_by_key(0, [k](int a, int b) { return a + b + k; }));
#elif defined(combine_by_key_wrong_create)
    static_cast<void>(
        pairs.combine_by_key([](const std::string& s) { return s; }, std::plus<>{}, std::plus<>{}));
#elif defined(combine_by_key_wrong_value)
    static_cast<void>(pairs.combine_by_key([](int v) { return std::to_string(v); }, std::plus<>{},
                                           std::plus<>{}));
#elif defined(combine_by_key_wrong_merge)
    static_cast<void>(pairs.combine_by_key([](int v) { return v; }, std::plus<>{},
                                           [](int, int) { return std::string(); }));
#elif defined(aggregate_by_key_wrong_add)
    static_cast<void>(pairs.aggregate_by_key(std::string(), std::plus<>{}, std::plus<>{}));
#elif defined(aggregate_by_key_wrong_merge)
    static_cast<void>(pairs.aggregate_by_key(0, std::plus<>{}, [](int a) { return a; }));
#elif defined(fold_by_key_wrong)
    static_cast<void>(pairs.fold_by_key(0, [](int a, const std::string&) { return a; }));
#elif defined(reduce_by_key_wrong)
    static_cast<void>(pairs.reduce_by_key([](int a, const std::string&) { return a; }));
#elif defined(reduce_by_key_wrong_result)
    static_cast<void>(pairs.reduce_by_key([](int, int) { return std::string(); }));
#elif defined(reduce_wrong)
    static_cast<void>(ints.reduce([](int a) { return a; }));
#elif defined(fold_wrong)
    static_cast<void>(ints.fold(0, [](int, int) { return std::string(); }));
#elif defined(aggregate_wrong_add)
    static_cast<void>(
        ints.aggregate(std::string(), [](int a, int b) { return a + b; }, std::plus<>{}));
#elif defined(aggregate_wrong_merge)
    static_cast<void>(ints.aggregate(
        0, std::plus<>{}, [](const std::string& a, const std::string& b) { return a + b; }));
#elif defined(for_each_not_invocable)
    ints.for_each([](const std::string&) {});
#elif defined(run_job_not_invocable)
    ctx.run_job(
        ints, [](const std::vector<int>& v) { return v.size(); }, {0}, [](int32_t, size_t) {});
#endif
  }

 private:
  [[maybe_unused]] int member_ = 0;
};

}  // namespace

int main() { static_cast<void>(&Program::run); }
