#include "wire/rpc_env.hpp"

#include <atomic>
#include <condition_variable>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>
#include <zmq.hpp>

#include "wire/envelope.hpp"

namespace tenon::wire {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t kEcho = 1, kFail = 2, kKeep = 3, kNote = 4, kOdd = 5, kDrop = 6, kUnknown = 99;
constexpr auto kDeadline = 30s;

template <class Done>
bool eventually(Done done) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

std::string echo(std::string_view text) { return MessageWriter(kEcho, 1).text(text).take(); }

// A server with an endpoint of a few handlers, and what they saw.
struct Server {
  explicit Server(const std::string& bind_to, RpcEnvOptions options = {})
      : env(std::move(options)) {
    env.setup_endpoint(
        "test",
        {
            {kEcho, [](MessageReader& in, Reply& reply) { reply.send(echo(in.text())); }},
            {kFail, [](MessageReader&, Reply&) { throw std::runtime_error("no such thing"); }},
            {kOdd, [](MessageReader&, Reply&) { throw 5; }},
            {kDrop, [](MessageReader&, Reply&) {}},
            {kKeep,
             [this](MessageReader&, Reply& reply) {
               const std::lock_guard lock(mutex);
               kept.push_back(std::move(reply));
             }},
            {kNote,
             [this](MessageReader& in, Reply& reply) {
               const std::lock_guard lock(mutex);
               EXPECT_FALSE(reply.wanted());
               notes.push_back(in.i64());
             }},
        });
    address = {env.bind(bind_to), "test"};
  }
  size_t note_count() {
    const std::lock_guard lock(mutex);
    return notes.size();
  }

  std::mutex mutex;
  std::vector<Reply> kept;
  std::vector<int64_t> notes;
  RpcEnv env;
  Address address;
};

Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(Error::Kind::invalid_call, "");
}

class RpcEnvOver : public testing::TestWithParam<const char*> {};

TEST_P(RpcEnvOver, S000_036_NamedEndpointsSendAndAsk) {
  Server server(GetParam());
  RpcEnv client;
  const std::string answer = client.ask_wait(server.address, echo("hello"));
  EXPECT_EQ(MessageReader(answer).text(), "hello");
  // Same socket, another name.
  server.env.setup_endpoint(
      "other", {{kEcho, [](MessageReader&, Reply& reply) { reply.send(echo("other")); }}});
  const std::string other = client.ask_wait({server.address.socket, "other"}, echo("hello"));
  EXPECT_EQ(MessageReader(other).text(), "other");
  for (int64_t i = 0; i < 1000; ++i) {
    client.send(server.address, MessageWriter(kNote, 1).number(i).take());
  }
  ASSERT_TRUE(eventually([&] { return server.note_count() == 1000; }));
  for (size_t i = 0; i < 1000; ++i) EXPECT_EQ(server.notes[i], static_cast<int64_t>(i));
}

TEST_P(RpcEnvOver, WhatTheHandlerThrowsIsTheAskersError) {
  Server server(GetParam());
  RpcEnv client;
  struct Case {
    uint32_t type;
    Error::Kind kind;
    const char* text;
  };
  const Case cases[] = {
      {kFail, Error::Kind::refused, "no such thing"},
      {kOdd, Error::Kind::refused, "no std::exception"},
      {kDrop, Error::Kind::refused, "not answered"},
      {kUnknown, Error::Kind::unknown, "no message of type 99"},
      {kEcho, Error::Kind::malformed, "too few fields"},  // without its text
  };
  for (const Case& c : cases) {
    const Error error = error_of([&] {
      static_cast<void>(client.ask_wait(server.address, MessageWriter(c.type, 1).take()));
    });
    EXPECT_EQ(error.kind(), c.kind) << c.type;
    EXPECT_THAT(error.what(), testing::HasSubstr(c.text));
  }
  const Error nobody = error_of(
      [&] { static_cast<void>(client.ask_wait({server.address.socket, "nobody"}, echo(""))); });
  EXPECT_EQ(nobody.kind(), Error::Kind::unknown);
  EXPECT_THAT(nobody.what(), testing::HasSubstr("'nobody'"));
  EXPECT_EQ(server.env.bad_messages(), 3U);
}

TEST_P(RpcEnvOver, AnAskThatIsNotAnsweredInTimeNamesItsSetting) {
  Server server(GetParam());
  RpcEnv client;
  const Error error = error_of([&] {
    static_cast<void>(client.ask_wait(server.address, MessageWriter(kKeep, 1).take(),
                                      {.timeout = 30ms, .timeout_key = "tenon.test.timeout"}));
  });
  EXPECT_EQ(error.kind(), Error::Kind::timeout);
  EXPECT_THAT(error.what(), testing::HasSubstr("tenon.test.timeout"));
  EXPECT_THAT(error.what(), testing::HasSubstr(server.address.socket));
  EXPECT_THAT(error.what(), testing::HasSubstr("30 ms"));
  // The late answer changes nothing.
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(server.mutex);
    return !server.kept.empty();
  }));
  {
    const std::lock_guard lock(server.mutex);
    server.kept[0].send(echo("late"));
  }
  EXPECT_EQ(MessageReader(client.ask_wait(server.address, echo("next"))).text(), "next");
}

TEST_P(RpcEnvOver, AnAnswerMayComeLaterFromAnyThread) {
  Server server(GetParam());
  RpcEnv client;
  std::promise<Answer> answered;
  client.ask(server.address, MessageWriter(kKeep, 1).take(), {},
             [&](Answer answer) { answered.set_value(std::move(answer)); });
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(server.mutex);
    return !server.kept.empty();
  }));
  std::thread([&] { server.kept[0].send(echo("late")); }).join();
  auto future = answered.get_future();
  ASSERT_EQ(future.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(MessageReader(future.get().message).text(), "late");
}

TEST_P(RpcEnvOver, StopFailsTheAsksThatWait) {
  Server server(GetParam());
  RpcEnv client;
  std::promise<Answer> answered;
  client.ask(server.address, MessageWriter(kKeep, 1).take(), {},
             [&](Answer answer) { answered.set_value(std::move(answer)); });
  auto future = answered.get_future();
  client.stop();
  client.stop();
  ASSERT_EQ(future.wait_for(0s), std::future_status::ready);
  EXPECT_EQ(error_of([&] { future.get().check(); }).kind(), Error::Kind::stopped);
  EXPECT_EQ(error_of([&] { client.send(server.address, echo("")); }).kind(), Error::Kind::stopped);
  EXPECT_EQ(error_of([&] { static_cast<void>(client.ask_wait(server.address, echo(""))); }).kind(),
            Error::Kind::stopped);
  EXPECT_EQ(error_of([&] { client.bind("inproc://late"); }).kind(), Error::Kind::stopped);
}

TEST_P(RpcEnvOver, AMessageOverTheLimitIsRefusedBeforeItIsSent) {
  Server server(GetParam());
  RpcEnv client({.max_message_bytes = 1000, .max_message_key = "tenon.test.max"});
  const Error error = error_of([&] { client.send(server.address, echo(std::string(2000, 'x'))); });
  EXPECT_EQ(error.kind(), Error::Kind::too_large);
  EXPECT_THAT(error.what(), testing::HasSubstr("tenon.test.max"));
  EXPECT_THAT(error.what(), testing::HasSubstr("1000"));
}

TEST_P(RpcEnvOver, AnAnswerOverTheLimitIsAnErrorToTheAsker) {
  Server server(GetParam(), {.max_message_bytes = 1000});
  server.env.setup_endpoint(
      "large",
      {{kEcho, [](MessageReader&, Reply& reply) { reply.send(echo(std::string(2000, 'x'))); }}});
  RpcEnv client;
  const Error error = error_of(
      [&] { static_cast<void>(client.ask_wait({server.address.socket, "large"}, echo(""))); });
  EXPECT_EQ(error.kind(), Error::Kind::too_large);
}

INSTANTIATE_TEST_SUITE_P(Sockets, RpcEnvOver,
                         testing::Values("inproc://wire-test", "tcp://127.0.0.1:*"));

TEST(RpcEnv, AHandlerCannotWaitForAnAnswer) {
  Server server("inproc://wire-test");
  RpcEnv client;
  server.env.setup_endpoint("asks",
                            {{kEcho, [&](MessageReader&, Reply& reply) {
                                static_cast<void>(server.env.ask_wait(server.address, echo("")));
                                reply.send(echo(""));
                              }}});
  const Error error = error_of(
      [&] { static_cast<void>(client.ask_wait({server.address.socket, "asks"}, echo(""))); });
  EXPECT_EQ(error.kind(), Error::Kind::refused);
  EXPECT_THAT(error.what(), testing::HasSubstr("use ask()"));
}

TEST(RpcEnv, AnAddressThatCannotBeHadIsAnErrorThatNamesIt) {
  Server server("tcp://127.0.0.1:*");
  RpcEnv other;
  const Error taken = error_of([&] { other.bind(server.address.socket); });
  EXPECT_EQ(taken.kind(), Error::Kind::unreachable);
  EXPECT_THAT(taken.what(), testing::HasSubstr(server.address.socket));
  const Error bad =
      error_of([&] { static_cast<void>(other.ask_wait({"nonsense", "test"}, echo(""))); });
  EXPECT_EQ(bad.kind(), Error::Kind::unreachable);
}

// A peer that speaks no such protocol, beside one that does.
class Intruder {
 public:
  explicit Intruder(const std::string& address) : socket_(context_, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.connect(address);
  }
  void send(const std::vector<std::string>& frames) {
    for (size_t i = 0; i < frames.size(); ++i) {
      socket_.send(zmq::buffer(frames[i]),
                   i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
};

TEST(RpcEnv, BadFramesAreCountedLoggedRarelyAndHarmNobodyElse) {
  std::atomic<int> lines{0};
  Server server("tcp://127.0.0.1:*", {.warn = [&](const std::string&) { ++lines; }});
  RpcEnv client;
  Intruder intruder(server.address.socket);
  const std::string ask = encode(Envelope{Envelope::Kind::ask, 1, "test", {}});
  const std::vector<std::vector<std::string>> bad = {
      {""},
      {"garbage"},
      {"garbage", "garbage"},
      {ask},
      {ask, "garbage"},
      {ask, echo("x"), "third"},
      {std::string(5000, '\x91'), echo("x")},
      {encode(Envelope{Envelope::Kind::ask, 0, "test", {}}), echo("x")},
      {encode(Envelope{Envelope::Kind::send, 0, "nobody", {}}), echo("x")},
      {encode(Envelope{Envelope::Kind::send, 0, "test", {}}), MessageWriter(kUnknown, 1).take()},
  };
  for (int round = 0; round < 20; ++round) {
    for (const auto& frames : bad) intruder.send(frames);
  }
  ASSERT_TRUE(eventually([&] { return server.env.bad_messages() == 20 * bad.size(); }))
      << server.env.bad_messages();
  // An answer that nobody waits for is not bad, only late.
  intruder.send({encode(Envelope{Envelope::Kind::reply, 77, "", {}}), echo("x")});
  EXPECT_EQ(MessageReader(client.ask_wait(server.address, echo("fine"))).text(), "fine");
  EXPECT_EQ(server.env.bad_messages(), 20 * bad.size());
  EXPECT_GE(lines, 1);
  EXPECT_LE(lines, 1 + kDeadline / 1s);
}

uint64_t resident_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "VmHWM:") break;
  }
  uint64_t kib = 0;
  status >> kib;
  return kib;
}

TEST(RpcEnv, AnOversizeFrameOfAPeerIsDroppedAndTheOthersGoOn) {
  Server server("tcp://127.0.0.1:*", {.max_message_bytes = 1000});
  RpcEnv client;
  Intruder intruder(server.address.socket);
  const uint64_t before = resident_kib();
  const std::string ask = encode(Envelope{Envelope::Kind::ask, 1, "test", {}});
  intruder.send({ask, echo(std::string(100'000, 'x'))});
  for (int i = 0; i < 10; ++i) {
    const std::string answer = client.ask_wait(server.address, echo("fine"));
    EXPECT_EQ(MessageReader(answer).text(), "fine");
  }
  EXPECT_LT(resident_kib() - before, 50'000U);
  EXPECT_EQ(server.env.bad_messages(), 0U);  // libzmq refused it
}

TEST(RpcEnv, AnOversizeMessageWithinTheProcessIsRefused) {
  Server server("inproc://wire-test", {.max_message_bytes = 1000});
  RpcEnv client;
  const Error error = error_of(
      [&] { static_cast<void>(client.ask_wait(server.address, echo(std::string(2000, 'x')))); });
  EXPECT_EQ(error.kind(), Error::Kind::too_large);
  EXPECT_EQ(server.env.bad_messages(), 1U);
}

size_t threads_of_process() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "Threads:") break;
  }
  size_t threads = 0;
  status >> threads;
  return threads;
}

TEST(RpcEnv, NoThreadIsLeftAfterTheStop) {
  const auto start_and_stop = [] {
    Server server("tcp://127.0.0.1:*");
    RpcEnv client;
    static_cast<void>(client.ask_wait(server.address, echo("")));
    client.send({"tcp://127.0.0.1:1", "nobody"}, echo("to nowhere"));
    return threads_of_process();
  };
  start_and_stop();  // a sanitizer starts a thread of its own with the first one
  const size_t before = threads_of_process();
  for (int i = 0; i < 5; ++i) EXPECT_GT(start_and_stop(), before);
  EXPECT_TRUE(eventually([&] { return threads_of_process() == before; }));
}

TEST(RpcEnv, ManyThreadsAskAtOnce) {
  Server server("inproc://wire-test");
  RpcEnv client;
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 250; ++i) {
        const std::string text = std::to_string(t) + ":" + std::to_string(i);
        if (MessageReader(client.ask_wait(server.address, echo(text))).text() == text) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 1000);
}

}  // namespace
}  // namespace tenon::wire
