// save_as_object_file and object_file: what comes back, and what is refused.
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <random>

#include "api/api_fixture.hpp"

namespace tenon {

// A Codec that refuses to read what it wrote: its second half is missing.
struct Halved {
  int value = 0;
};
template <>
struct Codec<Halved> {
  static void write(ByteWriter& out, const Halved& halved) { out.fixed(halved.value); }
  static Halved read(ByteReader& in) { return {in.fixed<int>() + 0 * in.fixed<uint8_t>()}; }
};

namespace {

namespace fs = std::filesystem;
using test::caught;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct User {
  std::string name;
  int age = 0;
  std::vector<std::pair<std::string, double>> scores;
  TENON_FIELDS(name, age, scores)
  friend bool operator==(const User&, const User&) = default;
};
struct Tree {
  int value = 0;
  std::vector<Tree> below;
  TENON_FIELDS(value, below)
};
struct Point {
  double x, y;
  friend bool operator==(const Point&, const Point&) = default;
};
enum class Colour : uint8_t { red };

class ObjectFileTest : public test::CountingTest {
 protected:
  [[nodiscard]] std::string out(const std::string& name = "out") const {
    return folder().path() + "/some/where/" + name;
  }
  [[nodiscard]] std::string part(int n = 0) const {
    return out() + "/part-0000" + std::to_string(n);
  }
  static std::vector<std::string> names(const std::string& directory) {
    std::vector<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(directory))
      all.push_back(entry.path().lexically_relative(directory));
    std::sort(all.begin(), all.end());
    return all;
  }
  // The text of the error that reading a changed part ends with.
  template <class T = int>
  std::string refused(const std::string& bytes) {
    std::ofstream(part(), std::ios::binary | std::ios::trunc) << bytes;
    const auto error = caught([&] { (void)context().object_file<T>(out()).count(); });
    EXPECT_EQ(error.kind, ErrorKind::job_failed);
    EXPECT_THAT(error.text, AllOf(HasSubstr("file " + part() + " "), HasSubstr("object_file at ")));
    expect_usable();
    return error.text;
  }
};

TEST_F(ObjectFileTest, TheSameRecordsInTheSamePartitions) {
  std::vector<User> users;
  for (int i = 0; i < 10'000; ++i) {
    users.push_back({"name " + std::to_string(i), i, {{"a", i / 4.0}, {"b", -1}}});
  }
  context().parallelize(users, 3).save_as_object_file(out());
  EXPECT_THAT(names(out()), ElementsAre("_SUCCESS", "part-00000", "part-00001", "part-00002"));
  const auto read = context().object_file<User>(out());
  EXPECT_EQ(read.partition_count(), 3);
  EXPECT_EQ(read.collect(), users);
  EXPECT_EQ(context().object_file<User>(part(0) + "," + part(2)).count(), 3333u + 3334u);
  EXPECT_EQ(context().object_file<User>(out() + "/part-*").count(), 10'000u);
  const auto mode = fs::status(part(0)).permissions();
  EXPECT_EQ(mode, fs::status(folder().write("plain", "")).permissions()) << "as any file";
}

TEST_F(ObjectFileTest, ManyTypes) {
  const auto round_trip = [&](auto record) {
    using T = decltype(record);
    fs::remove_all(out());
    context().parallelize(std::vector{record}, 1).save_as_object_file(out());
    return context().object_file<T>(out()).collect() == std::vector{record};
  };
  EXPECT_TRUE(round_trip(true));
  EXPECT_TRUE(round_trip(-1.5));
  EXPECT_TRUE(round_trip(std::string("any bytes \xff\0x", 13)));
  EXPECT_TRUE(round_trip(std::tuple(1, std::string("a"), std::pair(2u, 'c'))));
  EXPECT_TRUE(round_trip(std::map<std::string, std::vector<int>>{{"k", {1, 2}}}));
  EXPECT_TRUE(round_trip(std::optional<int64_t>(7)));
  EXPECT_TRUE(round_trip(std::variant<int, std::string>("text")));
  EXPECT_TRUE(round_trip(Point{1, 2}));
  EXPECT_TRUE(round_trip(Colour::red));
  EXPECT_TRUE(round_trip(std::monostate{})) << "a record of no bytes";
  EXPECT_TRUE(round_trip(std::string(50'000'000, 'x'))) << "larger than a frame";
}

TEST_F(ObjectFileTest, ViewsAreSavedAsTheirText) {
  const std::string path = folder().write("in", "a b\nc\n");
  context().text_file<std::string_view>(path, 1).flat_map(fn<words>).save_as_object_file(out());
  EXPECT_THAT(context().object_file<std::string>(out()).collect(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(context().object_file<std::string_view>(out()).count(), 3u);
}

TEST_F(ObjectFileTest, NoRecordsAndNoPartitions) {
  context().parallelize(std::vector<std::string>{"x"}, 3).save_as_object_file(out());
  EXPECT_EQ(context().object_file<std::string>(out()).partition_count(), 3);
  EXPECT_THAT(context().object_file<std::string>(out()).collect(), ElementsAre("x"));
  context().empty<std::string>().save_as_object_file(out("none"));
  EXPECT_THAT(names(out("none")), ElementsAre("_SUCCESS"));
  const auto none = context().object_file<std::string>(out("none"));
  EXPECT_EQ(none.partition_count(), 0);
  EXPECT_THAT(none.collect(), IsEmpty());
}

TEST_F(ObjectFileTest, ATypeAsText) {
  EXPECT_EQ(detail::type_text<int>(), "int32");
  EXPECT_EQ(detail::type_text<unsigned long long>(), detail::type_text<unsigned long>());
  EXPECT_EQ((detail::type_text<std::pair<std::string, std::vector<bool>>>()),
            "(string,list<bool>)");
  EXPECT_EQ(detail::type_text<User>(),
            "tenon::(anonymous namespace)::User"
            "{name:string,age:int32,scores:list<(string,float64)>}");
  EXPECT_EQ(detail::type_text<Tree>(),
            "tenon::(anonymous namespace)::Tree"
            "{value:int32,below:list<tenon::(anonymous namespace)::Tree>}");
  EXPECT_EQ(detail::type_text<Point>(), "tenon::(anonymous namespace)::Point[16]");
  EXPECT_EQ((detail::type_text<std::variant<std::optional<float>, std::unique_ptr<int8_t>>>()),
            "variant<optional<float32>,optional<int8>>");
  EXPECT_EQ((detail::type_text<std::map<std::array<std::string, 2>, std::tuple<>>>()),
            "map<array<string,2>,()>");
}

TEST_F(ObjectFileTest, AnExistingDirectoryIsRefusedBeforeAnyTask) {
  fs::create_directories(out());
  folder().write("some/where/out/mine", "keep");
  expect_usable();
  start_counting();
  const auto error = caught([&] { context().range(0, 5).save_as_object_file(out()); });
  EXPECT_EQ(error.kind, ErrorKind::input_output);
  EXPECT_THAT(error.text, AllOf(HasSubstr(out()), HasSubstr("it exists already")));
  EXPECT_EQ(jobs_since(), 0u);
  EXPECT_THAT(names(out()), ElementsAre("mine"));
}

TEST_F(ObjectFileTest, AFailedJobLeavesNothing) {
  const auto error = caught([&] {
    context()
        .range(0, 10, 1, 5)
        .map([](int n) -> int {
          if (n == 9) throw std::runtime_error("boom");
          return n;
        })
        .save_as_object_file(out());
  });
  EXPECT_EQ(error.kind, ErrorKind::job_failed);
  EXPECT_FALSE(fs::exists(folder().path() + "/some")) << "neither the folders above it";
}

TEST_F(ObjectFileTest, ARetriedTaskWritesItsPartOnce) {
  start(conf("local[2,4]"));
  context()
      .range(0, 200'000, 1, 2)
      .map([](int n) {
        if (n % 100'000 == 99'999 && TaskContext::current()->attempt() < 2)
          throw std::runtime_error("late in the partition");
        return n;
      })
      .save_as_object_file(out());
  EXPECT_THAT(names(out()), ElementsAre("_SUCCESS", "part-00000", "part-00001"));
  EXPECT_EQ(context().object_file<int>(out()).count(), 200'000u);
}

// A limit on the size of files stands for the full disk.
TEST_F(ObjectFileTest, AFullDiskFailsTheJobAndLeavesNothing) {
  struct rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit small = before;
  small.rlim_cur = 1'000'000;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto error =
      caught([&] { context().range(0, 1'000'000, 1, 2).save_as_object_file(out()); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error.kind, ErrorKind::job_failed);
  EXPECT_THAT(error.text, AllOf(HasSubstr(out()), HasSubstr("part-0000"),
                                HasSubstr("cannot be written: File too large")));
  EXPECT_FALSE(fs::exists(out()));
}

// ------------------------------------------------------------------------------- what is refused

TEST_F(ObjectFileTest, AMissingPath) {
  const auto error = caught([&] { (void)context().object_file<int>(out()).count(); });
  EXPECT_EQ(error.kind, ErrorKind::input_output);
  EXPECT_THAT(error.text, HasSubstr("input path " + out() + ": No such file"));
}

TEST_F(ObjectFileTest, AFolderWithoutSuccess) {
  context().range(0, 10, 1, 2).save_as_object_file(out());
  context().range(10, 20, 1, 2).save_as_object_file(out("out2"));
  EXPECT_EQ(context().object_file<int>(folder().path() + "/some").count(), 20u) << "two saves";
  fs::remove(out() + "/_SUCCESS");
  for (const std::string& path : {out(), folder().path() + "/some"}) {
    const auto error = caught([&] { (void)context().object_file<int>(path).count(); });
    EXPECT_EQ(error.kind, ErrorKind::input_output);
    EXPECT_THAT(error.text, AllOf(HasSubstr("input path " + out() + ": has no file _SUCCESS"),
                                  HasSubstr("name them, as " + out() + "/part-*")));
  }
  EXPECT_EQ(context().object_file<int>(out() + "/part-*").count(), 10u);
  fs::create_directories(folder().path() + "/nothing");
  EXPECT_THAT(
      caught([&] { (void)context().object_file<int>(folder().path() + "/nothing").count(); }).text,
      HasSubstr("has no file _SUCCESS"));
}

TEST_F(ObjectFileTest, ATruncatedFile) {
  context().range(0, 10'000, 1, 1).save_as_object_file(out());
  const std::string whole = test::ScratchFolder::read(part());
  for (const size_t length : {size_t{9}, size_t{16}, whole.size() / 2, whole.size() - 1}) {
    EXPECT_THAT(refused(whole.substr(0, length)), HasSubstr("is cut short")) << length;
  }
  EXPECT_THAT(refused(""), HasSubstr("is damaged: it is cut short"));
}

TEST_F(ObjectFileTest, AFlippedBitAnywhere) {
  context().range(0, 100, 1, 1).save_as_object_file(out());
  const std::string whole = test::ScratchFolder::read(part());
  std::mt19937 random(1);
  for (int i = 0; i < 40; ++i) {
    // Behind the first words and version, which are looked at first, and before the last words.
    const size_t at = 12 + random() % (whole.size() - 12 - 16);
    std::string bad = whole;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (random() % 8)));
    EXPECT_THAT(refused(bad), HasSubstr("is damaged: its checksum does not fit")) << at;
  }
  std::string bad = whole;
  bad.back() ^= 1;
  EXPECT_THAT(refused(bad), HasSubstr("is damaged: its checksum does not fit"));
}

TEST_F(ObjectFileTest, AForeignFile) {
  context().range(0, 5, 1, 1).save_as_object_file(out());
  for (const char* bytes : {"this is a line of text\nand another\n", "SEQ\x06org.apache.hadoop"}) {
    EXPECT_THAT(
        refused(bytes),
        HasSubstr("is no object file: it does not begin as save_as_object_file() writes it"));
  }
}

TEST_F(ObjectFileTest, ALaterFormatVersion) {
  context().range(0, 5, 1, 1).save_as_object_file(out());
  std::string later = test::ScratchFolder::read(part());
  later[8] = 2;
  EXPECT_THAT(refused(later), HasSubstr("has format version 2, and this program reads 1"));
}

TEST_F(ObjectFileTest, RecordsOfAnotherType) {
  context().range(0, 5, 1, 1).save_as_object_file(out());
  const std::string whole = test::ScratchFolder::read(part());
  EXPECT_THAT(refused<std::string>(whole), HasSubstr("holds records of type int32, not of string"));
  EXPECT_THAT((refused<std::pair<int64_t, User>>(whole)),
              HasSubstr("holds records of type int32, not of (int64,tenon::"));
}

// What no other attempt can mend is not tried again.
TEST_F(ObjectFileTest, C9_5_AFileOfAnotherTypeIsNotTriedAgain) {
  start(conf("local[2,4]"));
  context().range(0, 5, 1, 1).save_as_object_file(out());
  static_cast<void>(events<event::JobEnd>(1));
  const size_t before = events<event::TaskStart>().size();
  EXPECT_THAT(caught([&] { (void)context().object_file<double>(out()).count(); }).text,
              HasSubstr("not retrying"));
  static_cast<void>(events<event::JobEnd>(2));
  EXPECT_EQ(events<event::TaskStart>().size(), before + 1);
}

TEST_F(ObjectFileTest, ACodecThatReadsMoreThanItWrote) {
  context().range(0, 3, 1, 1).map([](int n) { return Halved{n}; }).save_as_object_file(out());
  const auto error = caught([&] { (void)context().object_file<Halved>(out()).count(); });
  EXPECT_EQ(error.kind, ErrorKind::job_failed);
  EXPECT_THAT(error.text, AllOf(HasSubstr(part() + " holds a record that its Codec cannot read"),
                                HasSubstr("caused by")));
}

}  // namespace
}  // namespace tenon
