#include "common/exit_codes.hpp"

#include "tenon/error.hpp"

namespace tenon {
namespace {

TEST(ExitCodes, EachKindOfErrorHasItsDocumentedCode) {
  const std::map<ErrorKind, int> expected = {
      {ErrorKind::invalid_argument, 1}, {ErrorKind::usage, 2},
      {ErrorKind::plugin, 3},           {ErrorKind::unreachable, 4},
      {ErrorKind::no_resources, 5},     {ErrorKind::executors_lost, 6},
      {ErrorKind::input_output, 7},     {ErrorKind::job_failed, 1},
      {ErrorKind::cancelled, 1},        {ErrorKind::stopped, 1},
      {ErrorKind::user_function, 1},    {ErrorKind::codec, 1},
      {ErrorKind::internal, 1}};
  for (const auto& [kind, code] : expected) EXPECT_EQ(exit_code(kind), code) << to_string(kind);
}

TEST(ExitCodes, TheTableHasEveryCode) {
  std::vector<std::string> codes;
  for (const exit_codes::Row& row : exit_codes::table()) {
    codes.emplace_back(row.code);
    EXPECT_FALSE(row.meaning.empty()) << row.code;
  }
  EXPECT_EQ(codes, (std::vector<std::string>{"0", "any", "1", "2", "3", "4", "5", "6", "7", "130",
                                             "143", "128+n", "50", "51", "52", "53", "56"}));
}

}  // namespace
}  // namespace tenon
