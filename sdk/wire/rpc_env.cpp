#include "wire/rpc_env.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "wire/envelope.hpp"
#include "wire/rare_warning.hpp"
#include "wire/sockets.hpp"

namespace tenon::wire {
namespace {

using Clock = std::chrono::steady_clock;

std::string text_of(const Address& address) { return address.socket + " (" + address.name + ")"; }

Answer failed(Error::Kind kind, std::string text) { return {{}, {{kind, std::move(text)}}}; }

}  // namespace

struct RpcEnv::State : std::enable_shared_from_this<State> {
  explicit State(RpcEnvOptions o)
      : options(std::move(o)), sockets(options), warning(options.warn) {}

  using Command = std::function<void()>;
  struct PendingAsk {
    Address to;
    std::string timeout_key;
    std::chrono::milliseconds timeout;
    std::function<void(Answer)> answered;
    std::multimap<Clock::time_point, uint64_t>::iterator deadline;
  };

  const RpcEnvOptions options;
  std::atomic<uint64_t> bad{0};

  std::mutex mutex;  // guards commands, stopping and endpoints
  std::vector<Command> commands;
  bool stopping = false;
  std::map<std::string, std::shared_ptr<const Handlers>> endpoints;

  std::mutex joining;  // guards thread
  std::thread thread;
  std::atomic<std::thread::id> thread_id;

  [[nodiscard]] bool on_thread() const { return thread_id.load() == std::this_thread::get_id(); }

  // The rest belongs to the thread.
  Sockets sockets;
  RareWarning warning;
  uint64_t last_ask = 0;
  std::unordered_map<uint64_t, PendingAsk> asks;
  std::multimap<Clock::time_point, uint64_t> deadlines;

  // False: stopped.
  bool post(Command command) {
    bool first = false;
    {
      const std::lock_guard lock(mutex);
      if (stopping) return false;
      first = commands.empty();
      commands.push_back(std::move(command));
    }
    if (first) sockets.wake();
    return true;
  }

  void check_size(const std::string& message) const {
    if (message.size() <= options.max_message_bytes) return;
    throw Error(Error::Kind::too_large, "A message of " + std::to_string(message.size()) +
                                            " bytes is over the limit of " +
                                            std::to_string(options.max_message_bytes) + "; " +
                                            options.max_message_key + " sets the limit");
  }

  void count_bad(const std::string& what) {
    bad.fetch_add(1, std::memory_order_relaxed);
    warning.say(options.name + ": " + what);
  }

  // ---- on the thread

  void run() {
    thread_id = std::this_thread::get_id();
    while (run_commands()) {
      sockets.poll(time_to_deadline(),
                   [this](const Route& from, std::string_view envelope, std::string_view body) {
                     receive(from, envelope, body);
                   });
      expire_asks();
    }
    auto left = std::exchange(asks, {});
    for (auto& [id, ask] : left) {
      finish(ask, failed(Error::Kind::stopped,
                         "Stopped while waiting for an answer from " + text_of(ask.to)));
    }
    sockets.close();
  }

  // False: to stop. What was queued before the stop has been done then.
  bool run_commands() {
    std::vector<Command> batch;
    bool stop = false;
    {
      const std::lock_guard lock(mutex);
      batch.swap(commands);
      stop = stopping;
    }
    for (Command& command : batch) command();
    return !stop;
  }

  [[nodiscard]] std::chrono::milliseconds time_to_deadline() const {
    if (deadlines.empty()) return std::chrono::milliseconds(-1);
    const auto left = deadlines.begin()->first - Clock::now();
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(left),
                    std::chrono::milliseconds(0));
  }

  void expire_asks() {
    while (!deadlines.empty() && deadlines.begin()->first <= Clock::now()) {
      const auto ask = asks.extract(deadlines.begin()->second);
      deadlines.erase(deadlines.begin());
      PendingAsk& expired = ask.mapped();
      finish(expired,
             failed(Error::Kind::timeout, "No answer from " + text_of(expired.to) + " within " +
                                              std::to_string(expired.timeout.count()) + " ms; " +
                                              expired.timeout_key + " sets the time"));
    }
  }

  void finish(PendingAsk& ask, Answer answer) {
    try {
      ask.answered(std::move(answer));
    } catch (const std::exception& error) {
      count_bad(std::string("a callback of an answer threw: ") + error.what());
    }
  }

  void send_now(const Address& to, std::string message) {
    try {
      const Route route = sockets.connect(to.socket);
      const Envelope envelope{Envelope::Kind::send, 0, to.name, {}};
      if (!sockets.send(route, encode(envelope), std::move(message))) {
        count_bad("a message to " + text_of(to) + " could not be queued and was dropped");
      }
    } catch (const Error& error) {
      count_bad(error.what());
    }
  }

  void ask_now(PendingAsk ask, std::string message) {
    try {
      const Route route = sockets.connect(ask.to.socket);
      const Envelope envelope{Envelope::Kind::ask, ++last_ask, ask.to.name, {}};
      if (!sockets.send(route, encode(envelope), std::move(message))) {
        throw Error(Error::Kind::unreachable,
                    "A message to " + text_of(ask.to) +
                        " could not be queued: it is gone, or too many wait for it");
      }
    } catch (const Error& error) {
      return finish(ask, failed(error.kind(), error.what()));
    }
    ask.deadline = deadlines.emplace(Clock::now() + ask.timeout, last_ask);
    asks.emplace(last_ask, std::move(ask));
  }

  void receive(const Route& from, std::string_view envelope_bytes, std::string_view body) {
    Envelope envelope;
    try {
      envelope = decode_envelope(envelope_bytes);
    } catch (const Error& error) {
      return count_bad(error.what());
    }
    if (envelope.kind == Envelope::Kind::reply || envelope.kind == Envelope::Kind::error) {
      return take_answer(envelope, body);
    }
    Reply reply = make_reply(from, envelope);
    if (body.size() > options.max_message_bytes) {
      return refuse(std::move(reply), Error::Kind::too_large, "a message is over the limit");
    }
    handle(envelope, body, std::move(reply));
  }

  void take_answer(const Envelope& envelope, std::string_view body) {
    auto ask = asks.extract(envelope.ask);
    if (!ask) return;  // its time was over
    deadlines.erase(ask.mapped().deadline);
    finish(ask.mapped(), envelope.kind == Envelope::Kind::reply
                             ? Answer{std::string(body), {}}
                             : failed(envelope.error, std::string(body)));
  }

  void handle(const Envelope& envelope, std::string_view body, Reply reply);
  Reply make_reply(const Route& from, const Envelope& envelope);
  void refuse(Reply reply, Error::Kind kind, const std::string& text);

  void answer_now(const Route& to, const Envelope& envelope, std::string body) {
    sockets.send(to, encode(envelope), std::move(body));  // an asker that is gone needs none
  }
};

struct Reply::Target {
  std::weak_ptr<RpcEnv::State> state;
  Route route;
  uint64_t ask = 0;

  void answer(Envelope::Kind kind, Error::Kind error, std::string body) const {
    const std::shared_ptr<RpcEnv::State> env = state.lock();
    if (!env) return;
    const Envelope envelope{kind, ask, {}, error};
    env->post([env = env.get(), to = route, envelope, body = std::move(body)]() mutable {
      env->answer_now(to, envelope, std::move(body));
    });
  }
};

Reply::Reply() = default;
Reply::Reply(Reply&& other) noexcept = default;
Reply::Reply(std::unique_ptr<Target> target) : target_(std::move(target)) {}

Reply::~Reply() {
  if (target_) fail("The message was not answered");
}

Reply& Reply::operator=(Reply&& other) noexcept {
  if (this != &other) {
    if (target_) fail("The message was not answered");
    target_ = std::move(other.target_);
  }
  return *this;
}

void Reply::send(std::string message) {
  const auto target = std::exchange(target_, nullptr);
  if (!target) return;
  const auto env = target->state.lock();
  if (env && message.size() > env->options.max_message_bytes) {
    return target->answer(Envelope::Kind::error, Error::Kind::too_large,
                          "The answer has " + std::to_string(message.size()) +
                              " bytes, over the limit of " +
                              std::to_string(env->options.max_message_bytes) + "; " +
                              env->options.max_message_key + " sets the limit");
  }
  target->answer(Envelope::Kind::reply, {}, std::move(message));
}

void Reply::fail(const std::string& text) {
  const auto target = std::exchange(target_, nullptr);
  if (target) target->answer(Envelope::Kind::error, Error::Kind::refused, text);
}

Reply RpcEnv::State::make_reply(const Route& from, const Envelope& envelope) {
  if (envelope.kind != Envelope::Kind::ask) return Reply();
  return Reply(
      std::make_unique<Reply::Target>(Reply::Target{weak_from_this(), from, envelope.ask}));
}

void RpcEnv::State::refuse(Reply reply, Error::Kind kind, const std::string& text) {
  count_bad(text);
  const auto target = std::exchange(reply.target_, nullptr);
  if (target) target->answer(Envelope::Kind::error, kind, text);
}

void RpcEnv::State::handle(const Envelope& envelope, std::string_view body, Reply reply) {
  std::shared_ptr<const Handlers> handlers;
  {
    const std::lock_guard lock(mutex);
    const auto found = endpoints.find(std::string(envelope.name));
    if (found != endpoints.end()) handlers = found->second;
  }
  if (!handlers) {
    return refuse(std::move(reply), Error::Kind::unknown,
                  "no endpoint '" + std::string(envelope.name) + "' here");
  }
  try {
    MessageReader message(body);
    const auto handler = handlers->find(message.type());
    if (handler == handlers->end()) {
      return refuse(std::move(reply), Error::Kind::unknown,
                    "endpoint '" + std::string(envelope.name) + "' knows no message of type " +
                        std::to_string(message.type()));
    }
    handler->second(message, reply);
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::malformed) {
      return refuse(std::move(reply), Error::Kind::malformed, error.what());
    }
    reply.fail(error.what());
  } catch (const std::exception& error) {
    reply.fail(error.what());
  } catch (...) {
    reply.fail("The handler threw an exception that is no std::exception");
  }
}

RpcEnv::RpcEnv(RpcEnvOptions options) : state_(std::make_shared<State>(std::move(options))) {
  state_->thread = std::thread([state = state_.get()] {
    pthread_setname_np(pthread_self(), state->options.name.substr(0, 15).c_str());
    state->run();
  });
}

RpcEnv::~RpcEnv() { stop(); }

std::string RpcEnv::bind(const std::string& address) {
  std::promise<Answer> bound;
  auto result = bound.get_future();
  const bool posted = state_->post([&] {
    try {
      bound.set_value({state_->sockets.bind(address), {}});
    } catch (const Error& error) {
      bound.set_value(failed(error.kind(), error.what()));
    } catch (const std::exception& error) {
      bound.set_value(failed(Error::Kind::unreachable, error.what()));
    }
  });
  if (!posted) throw Error(Error::Kind::stopped, "Cannot listen on " + address + ": stopped");
  Answer answer = result.get();
  answer.check();
  return std::move(answer.message);
}

void RpcEnv::setup_endpoint(const std::string& name, Handlers handlers) {
  auto shared = std::make_shared<const Handlers>(std::move(handlers));
  const std::lock_guard lock(state_->mutex);
  state_->endpoints[name].swap(shared);
}

void RpcEnv::remove_endpoint(const std::string& name) {
  const std::lock_guard lock(state_->mutex);
  state_->endpoints.erase(name);
}

void RpcEnv::send(const Address& to, std::string message) {
  state_->check_size(message);
  const bool posted =
      state_->post([state = state_.get(), to, message = std::move(message)]() mutable {
        state->send_now(to, std::move(message));
      });
  if (!posted) throw Error(Error::Kind::stopped, "Cannot send to " + text_of(to) + ": stopped");
}

void RpcEnv::ask(const Address& to, std::string message, const AskOptions& options,
                 std::function<void(Answer)> answered) {
  state_->check_size(message);
  State::PendingAsk ask{to, options.timeout_key, options.timeout, std::move(answered), {}};
  const bool posted = state_->post(
      [state = state_.get(), ask = std::move(ask), message = std::move(message)]() mutable {
        state->ask_now(std::move(ask), std::move(message));
      });
  if (!posted) throw Error(Error::Kind::stopped, "Cannot ask " + text_of(to) + ": stopped");
}

std::string RpcEnv::ask_wait(const Address& to, std::string message, const AskOptions& options) {
  if (state_->on_thread()) {
    throw Error(Error::Kind::invalid_call,
                "A handler cannot wait for an answer from " + text_of(to) + ": use ask()");
  }
  auto promise = std::make_shared<std::promise<Answer>>();
  auto result = promise->get_future();
  ask(to, std::move(message), options,
      [promise](Answer answer) { promise->set_value(std::move(answer)); });
  Answer answer = result.get();
  answer.check();
  return std::move(answer.message);
}

void RpcEnv::stop() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->sockets.wake();
  if (state_->on_thread()) return;
  const std::lock_guard lock(state_->joining);
  if (state_->thread.joinable()) state_->thread.join();
}

uint64_t RpcEnv::bad_messages() const { return state_->bad.load(std::memory_order_relaxed); }

}  // namespace tenon::wire
