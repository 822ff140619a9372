#include "conf/tenon_conf_file.hpp"

#include <filesystem>
#include <fstream>

#include "unit/conf/expect_error.hpp"

namespace tenon::conf {
namespace {

TEST(TenonConfFile, LinesOfBothForms) {
  const std::vector<Entry> entries = parse_conf(
      "\xEF\xBB\xBF# a comment\n"
      "tenon.master local[2]\n"
      "\n"
      "  tenon.task.cpus = 2  \r\n"
      "my.key=a = b # not a comment\n"
      "tenon.app.name\tTwo words\n"
      "empty =\n"
      "tenon.master=local[4]",
      "f");
  EXPECT_EQ(entries, (std::vector<Entry>{{"tenon.master", "local[2]", "f:2"},
                                         {"tenon.task.cpus", "2", "f:4"},
                                         {"my.key", "a = b # not a comment", "f:5"},
                                         {"tenon.app.name", "Two words", "f:6"},
                                         {"empty", "", "f:7"},
                                         {"tenon.master", "local[4]", "f:8"}}));
  EXPECT_TRUE(parse_conf("", "f").empty());
}

TEST(TenonConfFile, BadLinesNameFileAndLine) {
  expect_error(ErrorKind::usage, "f:2: 'tenon.master' has no value; a line is 'key value'",
               [] { parse_conf("# x\ntenon.master\n", "f"); });
  expect_error(ErrorKind::usage, "f:1: no key before '='; a line is 'key value'",
               [] { parse_conf(" = 2", "f"); });
  expect_error(ErrorKind::usage, "f:1: a NUL byte; this is not a settings file",
               [] { parse_conf(std::string_view("a\0b", 3), "f"); });
}

TEST(TenonConfFile, AFileThatCannotBeReadIsNamed) {
  expect_error(ErrorKind::usage,
               "cannot read the settings file /no/such.conf: No such file or directory",
               [] { read_conf_file("/no/such.conf"); });
  expect_error(ErrorKind::usage, "cannot read the settings file /: Is a directory",
               [] { read_conf_file("/"); });
  expect_error(ErrorKind::usage, "cannot read the settings file /dev/zero: larger than 4 MiB",
               [] { read_conf_file("/dev/zero"); });
}

TEST(TenonConfFile, ReadsAFile) {
  const std::string path = ::testing::TempDir() + "read.conf";
  std::ofstream(path) << "a 1\nb 2\n";
  EXPECT_EQ(read_conf_file(path),
            (std::vector<Entry>{{"a", "1", path + ":1"}, {"b", "2", path + ":2"}}));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tenon::conf
