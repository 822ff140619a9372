#include "service/driver_service.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "common/log.hpp"
#include "service/messages.hpp"
#include "tenon/error.hpp"
#include "wire/rpc_env.hpp"

namespace tenon::service {
namespace {

const log::Logger kLog = log::logger("service");

std::string list(const std::vector<rdd::Module>& modules) {
  std::string text;
  for (const rdd::Module& module : modules) {
    if (!text.empty()) text += ", ";
    text += module.path;
    text += " (";
    text += module.build_id.empty() ? "no build-id" : module.build_id;
    text += ")";
  }
  return text.empty() ? "none" : text;
}

uint32_t type_of(MessageType type) { return static_cast<uint32_t>(type); }

}  // namespace

std::string unique_inproc_address(const std::string& role) {
  static std::atomic<uint64_t> next{0};
  return "inproc://tenon-" + role + "-" + std::to_string(next.fetch_add(1));
}

std::string compare_modules(const std::vector<rdd::Module>& driver,
                            const std::vector<rdd::Module>& executor) {
  bool same = driver.size() == executor.size();
  for (size_t i = 0; same && i < driver.size(); ++i) {
    same = !driver[i].build_id.empty() && driver[i].build_id == executor[i].build_id;
  }
  if (same) return {};
  return "driver and executor do not run the same build of the program: the driver has " +
         list(driver) + "; the executor has " + list(executor);
}

struct DriverService::State {
  State(DriverServiceOptions o, const BlobStore& binaries, const BlobStore& casts, DriverSources s)
      : options(std::move(o)),
        stage_binaries(binaries),
        broadcasts(casts),
        sources(std::move(s)),
        env({.name = "tenon-service",
             .max_message_bytes = options.max_message_bytes,
             .warn = [this](const std::string& line) { warn(line); }}) {}

  // Orders cross with executors that go when the application stops: nothing to worry about then.
  void warn(const std::string& line) const {
    if (stopping.load(std::memory_order_relaxed)) {
      kLog.info(line);
    } else {
      kLog.warn(line);
    }
  }

  const DriverServiceOptions options;
  const BlobStore& stage_binaries;
  const BlobStore& broadcasts;
  const DriverSources sources;
  std::mutex mutex;                              // guards executors
  std::map<std::string, std::string> executors;  // endpoint by id
  std::string address;
  std::atomic<bool> stopping{false};
  wire::RpcEnv env;

  wire::RpcEnv::Handlers handlers() {
    using Reader = wire::MessageReader;
    using Reply = wire::Reply;
    return {
        {type_of(MessageType::register_executor),
         [this](Reader& in, Reply& reply) { register_executor(decode_register(in), reply); }},
        {type_of(MessageType::heartbeat),
         [this](Reader& in, Reply& reply) { heartbeat(decode_heartbeat(in), reply); }},
        {type_of(MessageType::map_outputs),
         [this](Reader& in, Reply& reply) {
           const int32_t shuffle = in.i32();
           map_outputs(shuffle, in.u64(), reply);
         }},
        {type_of(MessageType::stage_binary),
         [this](Reader& in, Reply& reply) {
           const std::string id(in.text());
           give(stage_binaries, id, "The code of " + id + " is no longer in the driver", reply);
         }},
        {type_of(MessageType::broadcast),
         [this](Reader& in, Reply& reply) {
           const std::string id = std::to_string(in.u64());
           give(broadcasts, id, "Broadcast " + id + " was destroyed", reply);
         }},
        {type_of(MessageType::block_update),
         [this](Reader& in, Reply&) {
           auto [executor, update] = decode_block_update(in);
           sources.block_update(std::move(executor), update);
         }},
    };
  }

  void register_executor(const RegisterExecutor& message, wire::Reply& reply) {
    if (const std::string why = compare_modules(options.modules, message.modules); !why.empty()) {
      kLog.error("executor refused, executor=" + message.executor_id + ": " + why);
      return reply.fail(why);
    }
    {
      const std::lock_guard lock(mutex);
      executors[message.executor_id] = message.endpoint;
    }
    reply.send(writer(MessageType::accepted).take());
  }

  void heartbeat(Heartbeat message, wire::Reply& reply) {
    auto to = std::make_shared<wire::Reply>(std::move(reply));
    sources.heartbeat(std::move(message), [to](bool reregister) {
      to->send(writer(MessageType::heartbeat_answer).boolean(reregister).take());
    });
  }

  void map_outputs(int32_t shuffle, uint64_t epoch, wire::Reply& reply) {
    auto to = std::make_shared<wire::Reply>(std::move(reply));
    sources.map_outputs(
        shuffle, epoch, [to, shuffle](const std::optional<shuffle::MapOutputs>& outputs) {
          if (outputs) return to->send(encode(*outputs));
          to->fail("Shuffle " + std::to_string(shuffle) + " is not known to the driver any more");
        });
  }

  static void give(const BlobStore& store, const std::string& id, const std::string& missing,
                   wire::Reply& reply) {
    const BlobStore::Blob blob = store.get(id);
    if (!blob) {
      const std::string why = store.why_removed(id);
      return reply.fail(why.empty() ? missing : why);
    }
    reply.send(writer(MessageType::blob).bytes(*blob).take());
  }

  void order(const std::string& message) {
    std::vector<std::string> endpoints;
    {
      const std::lock_guard lock(mutex);
      for (const auto& [id, endpoint] : executors) endpoints.push_back(endpoint);
    }
    try {
      for (const std::string& endpoint : endpoints) {
        env.send({endpoint, std::string(kExecutorEndpoint)}, message);
      }
    } catch (const wire::Error& error) {
      kLog.debug(error.what());  // stopped: the executors end too
    }
  }
};

DriverService::DriverService(DriverServiceOptions options, const BlobStore& stage_binaries,
                             const BlobStore& broadcasts, DriverSources sources)
    : state_(std::make_unique<State>(std::move(options), stage_binaries, broadcasts,
                                     std::move(sources))) {
  state_->env.setup_endpoint(std::string(kDriverEndpoint), state_->handlers());
  try {
    state_->address = state_->env.bind(state_->options.address);
  } catch (const wire::Error& error) {
    throw Error(ErrorKind::unreachable, error.what());
  }
}

DriverService::~DriverService() { stop(); }

const std::string& DriverService::address() const { return state_->address; }

void DriverService::take_result(const task::BlockManagerId& from, uint64_t task_id,
                                std::function<void(std::optional<std::string>)> answered) {
  try {
    state_->env.ask({from.endpoint, std::string(kExecutorEndpoint)},
                    writer(MessageType::take_result).number(task_id).take(),
                    {state_->options.ask_timeout, "tenon.rpc.askTimeout"},
                    [answered](const wire::Answer& answer) {
                      std::optional<std::string> bytes;
                      try {
                        answer.check();
                        bytes = reader(answer.message, MessageType::blob).bytes();
                      } catch (const wire::Error& error) {
                        kLog.warn(std::string("result is lost: ") + error.what());
                      }
                      answered(std::move(bytes));
                    });
  } catch (const wire::Error& error) {
    kLog.debug(error.what());
    answered(std::nullopt);
  }
}

void DriverService::remove_rdd(int32_t rdd) {
  state_->order(writer(MessageType::remove_rdd).number(rdd).take());
}

void DriverService::remove_shuffle(int32_t shuffle) {
  state_->order(writer(MessageType::remove_shuffle).number(shuffle).take());
}

void DriverService::remove_broadcast(uint64_t id) {
  state_->order(writer(MessageType::remove_broadcast).number(id).take());
}

void DriverService::forget_executor(const std::string& executor_id) {
  const std::lock_guard lock(state_->mutex);
  state_->executors.erase(executor_id);
}

void DriverService::begin_stop() { state_->stopping.store(true, std::memory_order_relaxed); }
void DriverService::stop() {
  begin_stop();
  state_->env.stop();
}

}  // namespace tenon::service
