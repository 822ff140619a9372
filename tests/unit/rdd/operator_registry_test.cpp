#include "rdd/operator_registry.hpp"

#include <cmath>
#include <cstring>

#include "tenon/error.hpp"

namespace tenon::rdd {
namespace {

using ::testing::HasSubstr;

struct Made final : detail::OperatorBase {};
std::unique_ptr<detail::OperatorBase> make_one(std::string_view) {
  return std::make_unique<Made>();
}
std::unique_ptr<detail::OperatorBase> make_two(std::string_view) {
  return std::make_unique<Made>();
}
std::unique_ptr<detail::OperatorBase> make_three(std::string_view bytes) {
  if (!bytes.empty()) throw Error(ErrorKind::codec, "no bytes were expected");
  return std::make_unique<Made>();
}

const int kHere = 0;

uint64_t length_hash(std::string_view name) { return name.size(); }

TEST(OperatorRegistry, ANameIsFoundByItsId) {
  const uint64_t id = detail::register_operator("test.registry.one", &make_one, &kHere);
  ASSERT_NE(find_operator(id), nullptr);
  EXPECT_EQ(*find_operator(id), &make_one);
  EXPECT_EQ(operator_name(id), "test.registry.one");
  EXPECT_EQ(detail::register_operator("test.registry.one", &make_one, &kHere), id);
  EXPECT_EQ(find_operator(id + 1), nullptr);
  EXPECT_EQ(operator_name(id + 1), "");
}

// Two translation units with the same mangled name: each keeps its own code, by the order of
// registration.
TEST(OperatorRegistry, TheSameNameWithAnotherFactoryGetsAnIdOfItsOwn) {
  const uint64_t first = detail::register_operator("test.registry.same", &make_one, &kHere);
  const uint64_t second = detail::register_operator("test.registry.same", &make_two, &kHere);
  const uint64_t third = detail::register_operator("test.registry.same", &make_three, &kHere);
  EXPECT_EQ(detail::register_operator("test.registry.same", &make_two, &kHere), second);
  EXPECT_EQ(operator_name(first), "test.registry.same");
  EXPECT_EQ(operator_name(second), "test.registry.same#1");
  EXPECT_EQ(operator_name(third), "test.registry.same#2");
  EXPECT_EQ(*find_operator(first), &make_one);
  EXPECT_EQ(*find_operator(second), &make_two);
  // The same in another process: the id depends on the name and the order alone.
  OperatorRegistry one(&length_hash), two(&length_hash);
  EXPECT_EQ(one.add("name", &make_one, &kHere), two.add("name", &make_two, &kHere));
  EXPECT_EQ(one.add("name", &make_two, &kHere), two.add("name", &make_one, &kHere));
}

TEST(OperatorRegistryDeath, EqualHashesOfDifferentNamesEndTheProcess) {
  OperatorRegistry registry(&length_hash);
  registry.add("abc", &make_one, &kHere);
  EXPECT_DEATH(registry.add("xyz", &make_two, &kHere), "operators abc and xyz have the same id");
}

TEST(OperatorRegistry, MakesOperatorsOrSaysWhyNot) {
  const uint64_t id = detail::register_operator("test.registry.made", &make_three, &kHere);
  EXPECT_NE(make_operator(id, ""), nullptr);
  EXPECT_THROW(static_cast<void>(make_operator(id, "x")), Error);
  try {
    static_cast<void>(make_operator(0x1234, ""));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("0000000000001234"));
    EXPECT_THAT(error.what(), HasSubstr("same build"));
  }
}

TEST(Modules, AreThoseThatRegistered) {
  detail::register_operator("test.registry.module", &make_one, &kHere);
  const std::vector<Module> modules = registered_modules();
  ASSERT_EQ(modules.size(), 1U);  // of the test's program; libc registered nothing
  EXPECT_THAT(modules[0].path, HasSubstr("unit_rdd"));
  EXPECT_EQ(modules[0].build_id.size(), 40U);  // sha1
}

int twice(int n) { return 2 * n; }

TEST(FunctionPointer, OfTheProgramAndOfALibraryComeBack) {
  const std::string program =
      detail::encode_function_pointer(reinterpret_cast<const void*>(&twice));
  const auto back =
      reinterpret_cast<int (*)(int)>(const_cast<void*>(detail::decode_function_pointer(program)));
  EXPECT_EQ(back, &twice);
  EXPECT_EQ(back(21), 42);
  const auto* library = reinterpret_cast<const void*>(static_cast<double (*)(double)>(&std::cbrt));
  EXPECT_EQ(detail::decode_function_pointer(detail::encode_function_pointer(library)), library);
  EXPECT_NE(program.substr(8), detail::encode_function_pointer(library).substr(8));
}

TEST(FunctionPointer, WhatIsNoCodeIsRefused) {
  struct Case {
    std::string bytes;
    const char* text;
  };
  std::string data = detail::encode_function_pointer(reinterpret_cast<const void*>(&twice));
  std::string far = data;
  const uint64_t huge = uint64_t{1} << 40;
  std::memcpy(far.data(), &huge, sizeof huge);
  // An offset that points into the program's data.
  std::string into_data = data;
  uint64_t offset = 0;
  std::memcpy(&offset, data.data(), sizeof offset);
  offset += reinterpret_cast<uintptr_t>(&kHere) - reinterpret_cast<uintptr_t>(&twice);
  std::memcpy(into_data.data(), &offset, sizeof offset);
  const Case cases[] = {
      {"", "cut short"},
      {data.substr(0, 8), "cut short"},
      {data.substr(0, 8) + "0123", "No loaded module has the build-id 0123"},
      {far, "outside the code"},
      {into_data, "outside the code"},
  };
  for (const Case& c : cases) {
    try {
      static_cast<void>(detail::decode_function_pointer(c.bytes));
      ADD_FAILURE() << c.text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::codec);
      EXPECT_THAT(error.what(), HasSubstr(c.text));
    }
  }
  const int local = 0;
  EXPECT_THROW(static_cast<void>(detail::encode_function_pointer(&local)), Error);
  EXPECT_THROW(static_cast<void>(detail::encode_function_pointer(&kHere)), Error);
  EXPECT_THROW(static_cast<void>(detail::encode_function_pointer(nullptr)), Error);
}

}  // namespace
}  // namespace tenon::rdd
