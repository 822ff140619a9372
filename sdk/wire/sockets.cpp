#include "wire/sockets.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <system_error>
#include <utility>

#if defined(__SANITIZE_THREAD__)
#define TENON_WIRE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TENON_WIRE_TSAN 1
#endif
#endif
#ifdef TENON_WIRE_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace tenon::wire {
namespace {

// libzmq passes memory from thread to thread; the thread sanitizer, which does not see into it, has
// to be told.
void handing_over([[maybe_unused]] void* memory) {
#ifdef TENON_WIRE_TSAN
  __tsan_release(memory);
#endif
}
void taken_over([[maybe_unused]] void* memory) {
#ifdef TENON_WIRE_TSAN
  __tsan_acquire(memory);
#endif
}

constexpr int kMaxBurst = 128;  // messages taken from one socket before the others have their turn

// One context for all RpcEnvs of the process, as inproc:// needs; it goes with the last of them.
std::shared_ptr<zmq::context_t> shared_context() {
  static std::mutex mutex;  // guards context
  static std::weak_ptr<zmq::context_t> context;
  const std::lock_guard lock(mutex);
  std::shared_ptr<zmq::context_t> current = context.lock();
  if (!current) {
    current = std::make_shared<zmq::context_t>(1);
    context = current;
  }
  return current;
}

std::string_view view(const zmq::message_t& message) {
  return {static_cast<const char*>(message.data()), message.size()};
}

// Hands the string over without a copy, unless it is so short that a copy is cheaper.
zmq::message_t to_message(std::string text) {
  if (text.size() < 1024) return zmq::message_t(text.data(), text.size());
  auto owner = std::make_unique<std::string>(std::move(text));
  zmq::message_t message(
      owner->data(), owner->size(),
      [](void*, void* hint) {
        taken_over(hint);
        delete static_cast<std::string*>(hint);
      },
      owner.get());
  handing_over(owner.get());
  static_cast<void>(owner.release());
  return message;
}

}  // namespace

Sockets::Sockets(const RpcEnvOptions& options)
    : options_(options),
      context_(shared_context()),
      wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Sockets::~Sockets() { ::close(wake_fd_); }

zmq::socket_t Sockets::make(zmq::socket_type type) const {
  zmq::socket_t socket(*context_, type);
  // A peer that sends a larger frame is disconnected before memory is taken for it. inproc:// has
  // no such check; the receiver makes it.
  socket.set(zmq::sockopt::maxmsgsize, static_cast<int64_t>(options_.max_message_bytes));
  socket.set(zmq::sockopt::linger, static_cast<int>(options_.linger.count()));
  socket.set(zmq::sockopt::sndhwm, options_.high_water_mark);
  socket.set(zmq::sockopt::rcvhwm, options_.high_water_mark);
  return socket;
}

uint32_t Sockets::add(zmq::socket_t socket, bool listens) {
  sockets_.push_back({std::move(socket), listens});
  return static_cast<uint32_t>(sockets_.size() - 1);
}

std::string Sockets::bind(const std::string& address) {
  try {
    zmq::socket_t socket = make(zmq::socket_type::router);
    socket.bind(address);
    std::string actual = socket.get(zmq::sockopt::last_endpoint);
    add(std::move(socket), true);
    return actual;
  } catch (const zmq::error_t& error) {
    throw Error(Error::Kind::unreachable, "Cannot listen on " + address + ": " + error.what());
  }
}

Route Sockets::connect(const std::string& address) {
  if (const auto known = connected_.find(address); known != connected_.end()) {
    return {known->second, {}};
  }
  try {
    zmq::socket_t socket = make(zmq::socket_type::dealer);
    socket.connect(address);
    const uint32_t index = add(std::move(socket), false);
    connected_.emplace(address, index);
    return {index, {}};
  } catch (const zmq::error_t& error) {
    throw Error(Error::Kind::unreachable, "Cannot connect to " + address + ": " + error.what());
  }
}

bool Sockets::send(const Route& to, const std::string& envelope, std::string body) {
  Socket& socket = sockets_.at(to.socket);
  const auto more = zmq::send_flags::dontwait | zmq::send_flags::sndmore;
  try {
    // Once the first part is taken, libzmq takes the others too.
    if (socket.listens) {
      zmq::message_t identity(to.identity.data(), to.identity.size());
      if (!socket.socket.send(identity, more)) return false;
    }
    if (!socket.socket.send(zmq::buffer(envelope), more)) return false;
    zmq::message_t message = to_message(std::move(body));
    handing_over(message.data());
    return socket.socket.send(message, zmq::send_flags::dontwait).has_value();
  } catch (const zmq::error_t&) {
    return false;
  }
}

void Sockets::poll(std::chrono::milliseconds timeout, const Receive& receive) {
  std::vector<zmq::pollitem_t> items;
  items.reserve(sockets_.size() + 1);
  items.push_back({nullptr, wake_fd_, ZMQ_POLLIN, 0});
  for (Socket& socket : sockets_) items.push_back({socket.socket.handle(), 0, ZMQ_POLLIN, 0});
  try {
    zmq::poll(items, timeout);
  } catch (const zmq::error_t& error) {
    if (error.num() == EINTR) return;
    throw;
  }
  if (items[0].revents != 0) {
    uint64_t count = 0;
    [[maybe_unused]] const auto size = ::read(wake_fd_, &count, sizeof count);
  }
  for (uint32_t i = 0; i + 1 < items.size(); ++i) {
    if (items[i + 1].revents != 0) receive_from(i, receive);
  }
}

void Sockets::receive_from(uint32_t index, const Receive& receive) {
  for (int i = 0; i < kMaxBurst && receive_one(index, receive); ++i) {
  }
}

bool Sockets::receive_one(uint32_t index, const Receive& receive) {
  std::array<zmq::message_t, 3> parts;
  size_t count = 0;
  bool more = true;
  while (more) {
    zmq::message_t part;
    // The vector may have moved while a message was handled.
    if (!sockets_[index].socket.recv(part, zmq::recv_flags::dontwait)) return false;
    taken_over(part.data());
    more = part.more();
    if (count < parts.size()) parts[count] = std::move(part);
    ++count;
  }
  const bool listens = sockets_[index].listens;
  Route from{index, listens ? std::string(view(parts[0])) : std::string()};
  const size_t head = listens ? 1 : 0;
  if (count != head + 2) {
    receive(from, {}, {});
  } else {
    receive(from, view(parts[head]), view(parts[head + 1]));
  }
  return true;
}

void Sockets::close() {
  sockets_.clear();
  connected_.clear();
  context_.reset();
}

void Sockets::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const auto size = ::write(wake_fd_, &one, sizeof one);
}

}  // namespace tenon::wire
