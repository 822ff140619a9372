// Named endpoints of a process and calls to those of other processes: MessagePack messages over
// ZeroMQ.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "wire/error.hpp"
#include "wire/message.hpp"

namespace tenon::wire {

// Where an endpoint is: a socket's address ("tcp://127.0.0.1:4711", "inproc://driver-1"), and its
// name there.
struct Address {
  std::string socket, name;
};

struct RpcEnvOptions {
  std::string name = "rpc";  // of the thread, and in warnings
  uint64_t max_message_bytes = uint64_t{128} << 20;
  std::string max_message_key = "tenon.rpc.message.maxSize";
  int high_water_mark = 0;                // messages queued for one peer; 0: no limit
  std::chrono::milliseconds linger{100};  // how long stop() keeps trying to send what is queued
  // Gets a line about bad messages at most once a second, with the number of those before. On the
  // thread of the RpcEnv.
  std::function<void(const std::string& line)> warn = {};
};

// The answer to one message. Move-only. An answer that dies unused, when one was asked for, is an
// error to the asker. Functions are [any-thread]; after the RpcEnv was stopped they do nothing.
class Reply {
 public:
  Reply();
  ~Reply();
  Reply(Reply&& other) noexcept;
  Reply& operator=(Reply&& other) noexcept;
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;

  // False: the message was one-way, and an answer goes nowhere.
  [[nodiscard]] bool wanted() const { return target_ != nullptr; }
  // Each at most once, one of them. A message over the limit becomes an error to the asker.
  void send(std::string message);
  void fail(const std::string& text);

 private:
  friend class RpcEnv;
  struct Target;
  explicit Reply(std::unique_ptr<Target> target);
  std::unique_ptr<Target> target_;
};

// What came back: a message, or why there is none. An error travels between threads as this value
// and becomes an exception where it is thrown, so that no thread frees what another one reads.
struct Answer {
  struct Failure {
    Error::Kind kind;
    std::string text;
  };

  std::string message;
  std::optional<Failure> failure;

  // Throws the failure as Error.
  void check() const {
    if (failure) throw Error(failure->kind, failure->text);
  }
};

struct AskOptions {
  std::chrono::milliseconds timeout{120'000};
  std::string timeout_key = "tenon.rpc.askTimeout";  // the setting that a time-out error names
};

// One thread owns the sockets and runs all handlers, one message at a time and those of one sender
// in order; a handler must not block. Functions are [any-thread].
class RpcEnv {
 public:
  // Runs on the thread of the RpcEnv; takes the reply away to answer later. What it throws is an
  // error to the asker; wire::Error (malformed) counts as a bad message.
  using Handler = std::function<void(MessageReader& message, Reply& reply)>;
  using Handlers = std::map<uint32_t, Handler>;  // by type of message

  explicit RpcEnv(RpcEnvOptions options = {});
  ~RpcEnv();  // stop()
  RpcEnv(const RpcEnv&) = delete;
  RpcEnv& operator=(const RpcEnv&) = delete;

  // Listens. Returns the address to connect to: of "tcp://127.0.0.1:*" with the port it got. Throws
  // Error (unreachable, stopped).
  std::string bind(const std::string& address);
  // Replaces the endpoint of that name.
  void setup_endpoint(const std::string& name, Handlers handlers);
  void remove_endpoint(const std::string& name);

  // One-way: queued and forgotten. Throws Error (too_large, stopped).
  void send(const Address& to, std::string message);
  // answered runs once, on the thread of the RpcEnv: with the reply, the other side's error, the
  // time-out, or that this side was stopped. Throws as send().
  void ask(const Address& to, std::string message, const AskOptions& options,
           std::function<void(Answer)> answered);
  // Waits for the answer; throws the Error. Not on the thread of the RpcEnv.
  [[nodiscard]] std::string ask_wait(const Address& to, std::string message,
                                     const AskOptions& options = {});

  // Fails the asks that wait, closes the sockets and joins; called on its own thread (by a handler)
  // it only begins to. Idempotent.
  void stop();

  // Messages that were no messages, or not for anybody here.
  [[nodiscard]] uint64_t bad_messages() const;

 private:
  friend class Reply;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tenon::wire
