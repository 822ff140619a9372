#include "wire/message.hpp"

#include <limits>
#include <msgpack.hpp>
#include <random>

namespace tenon::wire {
namespace {

Error::Kind kind_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error::Kind::stopped;
}

TEST(Message, EveryKindOfFieldComesBack) {
  const int64_t numbers[] = {0,
                             1,
                             127,
                             128,
                             255,
                             256,
                             65535,
                             65536,
                             -1,
                             -32,
                             -33,
                             -128,
                             -129,
                             -32768,
                             -32769,
                             INT32_MIN,
                             int64_t{INT32_MIN} - 1,
                             INT64_MIN,
                             INT64_MAX};
  MessageWriter out(7, 3);
  for (const int64_t number : numbers) out.number(number);
  out.number(std::numeric_limits<uint64_t>::max()).number(2.5).boolean(true).boolean(false).nil();
  const std::string long_text(70'000, 't');
  out.text("").text("short").text(long_text).bytes(std::string_view("\0x", 2)).bytes(long_text);
  out.array(2).number(1).array(1).text("inner");
  const std::string message = out.take();

  MessageReader in(message);
  EXPECT_EQ(in.type(), 7U);
  EXPECT_EQ(in.version(), 3U);
  for (const int64_t number : numbers) EXPECT_EQ(in.i64(), number);
  EXPECT_EQ(in.u64(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(in.f64(), 2.5);
  EXPECT_TRUE(in.boolean());
  EXPECT_FALSE(in.boolean());
  EXPECT_TRUE(in.nil());
  EXPECT_EQ(in.text(), "");
  EXPECT_FALSE(in.nil());
  EXPECT_EQ(in.text(), "short");
  EXPECT_EQ(in.text(), long_text);
  EXPECT_EQ(in.bytes(), std::string_view("\0x", 2));
  EXPECT_EQ(in.bytes(), long_text);
  MessageReader outer = in.array();
  EXPECT_EQ(outer.u64(), 1U);
  MessageReader inner = outer.array();
  EXPECT_EQ(inner.text(), "inner");
  EXPECT_EQ(inner.left(), 0U);
  EXPECT_EQ(in.left(), 0U);
}

// Another implementation reads what the writer made, and the reader what the other one made.
TEST(Message, IsMessagePack) {
  const std::string message = MessageWriter(5, 1).text("name").number(70000).take();
  const auto unpacked = msgpack::unpack(message.data(), message.size());
  const auto fields = unpacked.get().as<std::tuple<int, int, std::string, int>>();
  EXPECT_EQ(fields, std::make_tuple(5, 1, std::string("name"), 70000));

  msgpack::sbuffer buffer;
  msgpack::pack(buffer, std::make_tuple(9, 2, std::string("x"), std::map<int, int>{{1, 2}}, 3.5F,
                                        std::vector<int>(20, 1), -5));
  MessageReader in(std::string_view(buffer.data(), buffer.size()));
  EXPECT_EQ(in.type(), 9U);
  EXPECT_EQ(in.text(), "x");
  in.skip();
  EXPECT_EQ(in.f64(), 3.5);
  EXPECT_EQ(in.array().left(), 20U);
  EXPECT_EQ(in.i32(), -5);
}

TEST(Message, ANewerSendersTrailingFieldsAreLeftAlone) {
  const std::string message =
      MessageWriter(1, 2).number(4).array(3).number(1).number(2).text("new").text("newer").take();
  MessageReader in(message);
  EXPECT_EQ(in.u64(), 4U);
  MessageReader array = in.array();
  EXPECT_EQ(array.u64(), 1U);
  EXPECT_EQ(in.left(), 1U);
}

TEST(Message, WhatDoesNotFitIsRefused) {
  const std::string message = MessageWriter(1, 1).number(-1).text("t").number(300).take();
  struct Case {
    const char* name;
    std::function<void(MessageReader&)> read;
  };
  const Case cases[] = {
      {"negative as unsigned", [](MessageReader& in) { in.u64(); }},
      {"number as text", [](MessageReader& in) { in.text(); }},
      {"number as bytes", [](MessageReader& in) { in.bytes(); }},
      {"number as array", [](MessageReader& in) { in.array(); }},
      {"number as truth", [](MessageReader& in) { in.boolean(); }},
      {"number as floating point", [](MessageReader& in) { in.f64(); }},
      {"text as number", [](MessageReader& in) { in.skip(), in.i64(); }},
      {"text as bytes", [](MessageReader& in) { in.skip(), in.bytes(); }},
      {"too few fields", [](MessageReader& in) { in.skip(), in.skip(), in.skip(), in.skip(); }},
  };
  for (const Case& c : cases) {
    MessageReader in(message);
    EXPECT_EQ(kind_of([&] { c.read(in); }), Error::Kind::malformed) << c.name;
  }
  const std::string large = MessageWriter(1, 1).number(uint64_t{1} << 40).take();
  MessageReader in(large);
  EXPECT_EQ(kind_of([&] { in.i32(); }), Error::Kind::malformed);
}

TEST(Message, AHeaderThatPromisesMoreThanThereIsIsRefused) {
  const std::string cases[] = {
      "",
      "\xc0",
      std::string("\x92\x01\xff", 3),                          // version is no unsigned number
      std::string("\xdd\xff\xff\xff\xff\x01\x01", 7),          // an array of 2^32-1 fields
      std::string("\x93\x01\x01\xdb\xff\xff\xff\xff", 8),      // text of 4 GiB
      std::string("\x93\x01\x01\xdd\xff\xff\xff\xff", 8),      // array of 2^32-1
      std::string("\x93\x01\x01\xdf\xff\xff\xff\xff\x01", 9),  // map of 2^32-1 pairs
      std::string("\x93\x01\x01\xc1", 4),                      // no value begins so
      std::string("\x93\x01\x01\xcf\x01", 5),                  // number cut short
  };
  for (const std::string& bytes : cases) {
    const auto read_all = [&] {
      MessageReader in(bytes);
      while (in.left() > 0) in.skip();
    };
    EXPECT_EQ(kind_of(read_all), Error::Kind::malformed) << testing::PrintToString(bytes);
  }
}

// A million open arrays: no recursion, no memory.
TEST(Message, DeepNestingIsReadOrRefusedButNeverCrashes) {
  std::string bytes("\x93\x01\x01", 3);
  bytes.append(1'000'000, '\x91');
  EXPECT_EQ(kind_of([&] { MessageReader(bytes).skip(); }), Error::Kind::malformed);
  bytes += '\x01';
  MessageReader in(bytes);
  in.skip();
  EXPECT_EQ(in.left(), 0U);
}

TEST(Message, RandomBytesAreReadOrRefused) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes("\x9f\x01\x01", 3);
    const size_t size = random() % 64;
    for (size_t k = 0; k < size; ++k) bytes += static_cast<char>(random());
    try {
      MessageReader in(bytes);
      while (in.left() > 0) in.skip();
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), Error::Kind::malformed);
    }
  }
}

TEST(Message, AnArrayWithoutAllOfItsValuesIsAMistakeOfTheWriter) {
  EXPECT_EQ(kind_of([] { static_cast<void>(MessageWriter(1, 1).array(2).number(1).take()); }),
            Error::Kind::invalid_call);
}

}  // namespace
}  // namespace tenon::wire
