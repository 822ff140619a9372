// The ZeroMQ sockets of an RpcEnv. Private to sdk/wire: only its .cpp files include this.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "wire/rpc_env.hpp"

namespace tenon::wire {

// Which peer: a socket of ours, and for one that listens the peer's identity there.
struct Route {
  uint32_t socket = 0;
  std::string identity;
};

// All on one thread, but for wake().
class Sockets {
 public:
  // A message of a peer: its envelope and its body, views that hold during the call. What comes in
  // another form gives empty ones.
  using Receive =
      std::function<void(const Route& from, std::string_view envelope, std::string_view body)>;

  explicit Sockets(const RpcEnvOptions& options);
  ~Sockets();
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;

  std::string bind(const std::string& address);
  // The route to whoever listens there; the same one for the same address. Throws Error
  // (unreachable) for a bad address.
  Route connect(const std::string& address);
  // False: it cannot be queued (the peer is gone, or its queue is full).
  bool send(const Route& to, const std::string& envelope, std::string body);

  // Waits for messages, wake() or the time-out, then hands over what has come.
  void poll(std::chrono::milliseconds timeout, const Receive& receive);
  // Closes all sockets, after the linger time at most; nothing but wake() follows.
  void close();
  // Ends the poll under way, or the next one. [any-thread]
  void wake();

 private:
  struct Socket {
    zmq::socket_t socket;
    bool listens = false;
  };

  zmq::socket_t make(zmq::socket_type type) const;
  uint32_t add(zmq::socket_t socket, bool listens);
  void receive_from(uint32_t index, const Receive& receive);
  bool receive_one(uint32_t index, const Receive& receive);

  const RpcEnvOptions& options_;
  std::shared_ptr<zmq::context_t> context_;
  int wake_fd_ = -1;
  std::vector<Socket> sockets_;
  std::map<std::string, uint32_t> connected_;  // by address
};

}  // namespace tenon::wire
