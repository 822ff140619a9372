#include "conf/handover.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "unit/conf/expect_error.hpp"

namespace tenon::conf {
namespace {

Handover sample() {
  return {.options = {{"tenon.master", "local[2]", "--master"}, {"a", "line\nbreak = x", "--conf"}},
          .properties_file = {{"b", "", "f:1"}},
          .has_properties_file = true,
          .load_defaults = true};
}

TEST(Handover, ArrivesAsItWasSent) {
  for (const Handover& sent : {sample(), Handover{}}) {
    EXPECT_EQ(decode_handover(encode_handover(sent)), sent);
    FileDescriptor file = make_handover(sent);
    const int copy = ::dup(file.get());
    EXPECT_EQ(read_handover(std::to_string(copy)), sent);
    EXPECT_EQ(::fcntl(copy, F_GETFD), -1) << "it is closed once read";
  }
}

TEST(Handover, AChildInheritsItAndNobodyCanChangeIt) {
  const FileDescriptor file = make_handover(sample());
  EXPECT_EQ(::fcntl(file.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(::pwrite(file.get(), "x", 1, 0), -1);
  EXPECT_EQ(::ftruncate(file.get(), 0), -1);
}

TEST(Handover, CutOrStrangeBytesAreRefused) {
  const std::string whole = encode_handover(sample());
  const std::string problem =
      "the settings of 'tenon submit' did not arrive whole; start the program again";
  int refused = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    try {
      EXPECT_NE(decode_handover(whole.substr(0, size)), sample()) << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), problem);
      ++refused;
    }
  }
  EXPECT_GT(refused, static_cast<int>(whole.size()) - 5);  // whole entries less are well-formed
  expect_error(ErrorKind::usage, problem, [] { decode_handover("something else"); });
  std::string strange = whole;
  strange += std::string("z\0k\0v\0w\0", 8);
  expect_error(ErrorKind::usage, problem, [&] { decode_handover(strange); });
}

TEST(Handover, ADescriptorThatIsNotOursIsRefused) {
  const FileDescriptor other(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  for (const std::string& text : {std::to_string(other.get()), std::string("987654"),
                                  std::string("x"), std::string("-1"), std::string("0")}) {
    expect_error(ErrorKind::usage,
                 "the settings of 'tenon submit' did not arrive: descriptor " + text +
                     " of TENON_SUBMIT_FD is not open; whatever starts the program must let it "
                     "inherit descriptors",
                 [&] { read_handover(text); });
  }
  EXPECT_GE(::fcntl(other.get(), F_GETFD), 0) << "a descriptor of somebody else stays open";
}

}  // namespace
}  // namespace tenon::conf
