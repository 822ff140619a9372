#include "service/executor_service.hpp"

#include <utility>

#include "common/log.hpp"
#include "service/messages.hpp"
#include "tenon/error.hpp"
#include "wire/rpc_env.hpp"

namespace tenon::service {
namespace {

const log::Logger kLog = log::logger("service");

uint32_t type_of(MessageType type) { return static_cast<uint32_t>(type); }

Error to_error(const wire::Error& error) {
  const bool silent =
      error.kind() == wire::Error::Kind::timeout || error.kind() == wire::Error::Kind::unreachable;
  return Error(silent ? ErrorKind::unreachable : ErrorKind::internal, error.what());
}

}  // namespace

struct ExecutorService::State {
  explicit State(ExecutorServiceOptions o)
      : options(std::move(o)),
        driver{options.driver_address, std::string(kDriverEndpoint)},
        env({.name = "tenon-exec-svc",
             .max_message_bytes = options.max_message_bytes,
             .warn = [](const std::string& line) { kLog.warn(line); }}) {}

  const ExecutorServiceOptions options;
  const wire::Address driver;
  std::string address;
  wire::RpcEnv env;

  // Asks and hands the answer's reader to read.
  template <class Read>
  auto ask(const wire::Address& to, std::string message, MessageType expected, Read read) {
    try {
      const std::string answer =
          env.ask_wait(to, std::move(message), {options.ask_timeout, "tenon.rpc.askTimeout"});
      wire::MessageReader in = reader(answer, expected);
      return read(in);
    } catch (const wire::Error& error) {
      throw to_error(error);
    }
  }

  std::shared_ptr<const std::string> ask_blob(std::string message) {
    return ask(driver, std::move(message), MessageType::blob, [](wire::MessageReader& in) {
      return std::make_shared<const std::string>(in.bytes());
    });
  }
};

namespace {

void give_block(storage::BlockManager& blocks, const ShuffleBlockId& id, wire::Reply& reply) {
  const storage::MapOutputPtr output = blocks.map_output(id.shuffle, id.map_id);
  const auto reduce = static_cast<size_t>(id.reduce);
  wire::MessageWriter answer = writer(MessageType::shuffle_block_answer);
  if (!output || id.reduce < 0 || reduce >= output->blocks.size()) {
    return reply.send(answer.nil().take());
  }
  reply.send(answer.bytes(output->blocks[reduce]).number(output->records[reduce]).take());
}

void give_result(storage::BlockManager& blocks, uint64_t task_id, wire::Reply& reply) {
  const std::optional<std::string> bytes = blocks.take_result(task_id);
  if (!bytes) {
    return reply.fail("Block taskresult_" + std::to_string(task_id) + " is not there");
  }
  reply.send(writer(MessageType::blob).bytes(*bytes).take());
}

}  // namespace

ExecutorService::ExecutorService(ExecutorServiceOptions options)
    : state_(std::make_unique<State>(std::move(options))) {
  try {
    state_->address = state_->env.bind(state_->options.address);
  } catch (const wire::Error& error) {
    throw to_error(error);
  }
}

ExecutorService::~ExecutorService() { stop(); }

const std::string& ExecutorService::address() const { return state_->address; }

void ExecutorService::serve(storage::BlockManager& blocks, shuffle::MapOutputCache& outputs) {
  using Reader = wire::MessageReader;
  using Reply = wire::Reply;
  state_->env.setup_endpoint(
      std::string(kExecutorEndpoint),
      {{type_of(MessageType::shuffle_block),
        [&blocks](Reader& in, Reply& reply) {
          give_block(blocks, decode_shuffle_block_id(in), reply);
        }},
       {type_of(MessageType::take_result),
        [&blocks](Reader& in, Reply& reply) { give_result(blocks, in.u64(), reply); }},
       {type_of(MessageType::remove_rdd),
        [&blocks](Reader& in, Reply&) { blocks.memory().remove_rdd(in.i32()); }},
       {type_of(MessageType::remove_shuffle),
        [&blocks, &outputs](Reader& in, Reply&) {
          const int32_t shuffle = in.i32();
          blocks.remove_shuffle(shuffle);
          outputs.remove_shuffle(shuffle);
        }},
       {type_of(MessageType::remove_broadcast),
        [&blocks](Reader& in, Reply&) { blocks.remove_broadcast(in.u64()); }}});
}

void ExecutorService::register_with_driver(const std::vector<rdd::Module>& modules) {
  const State& state = *state_;
  state_->ask(state.driver,
              encode(RegisterExecutor{state.options.executor_id, state.options.host, state.address,
                                      modules}),
              MessageType::accepted, [](wire::MessageReader&) {});
}

std::shared_ptr<const std::string> ExecutorService::stage_binary(const std::string& id) {
  return state_->ask_blob(writer(MessageType::stage_binary).text(id).take());
}

std::shared_ptr<const std::string> ExecutorService::broadcast(uint64_t id) {
  return state_->ask_blob(writer(MessageType::broadcast).number(id).take());
}

shuffle::MapOutputsPtr ExecutorService::map_outputs(int32_t shuffle, uint64_t epoch) {
  return state_->ask(state_->driver,
                     writer(MessageType::map_outputs).number(shuffle).number(epoch).take(),
                     MessageType::map_outputs_answer, [](wire::MessageReader& in) {
                       return std::make_shared<const shuffle::MapOutputs>(decode_map_outputs(in));
                     });
}

void ExecutorService::heartbeat(const Heartbeat& heartbeat, HeartbeatAnswered answered) {
  const auto take = [answered](const wire::Answer& answer) {
    bool reregister = false;
    try {
      answer.check();
      reregister = reader(answer.message, MessageType::heartbeat_answer).boolean();
    } catch (const wire::Error& error) {
      kLog.debug(error.what());
      return answered(false, false);
    }
    answered(true, reregister);
  };
  try {
    state_->env.ask(state_->driver, encode(heartbeat),
                    {state_->options.heartbeat_timeout, "tenon.executor.heartbeatInterval"}, take);
  } catch (const wire::Error& error) {
    kLog.debug(error.what());
    answered(false, false);
  }
}

void ExecutorService::block_update(const storage::BlockUpdate& update) {
  try {
    state_->env.send(state_->driver, encode(state_->options.executor_id, update));
  } catch (const wire::Error& error) {
    kLog.debug(error.what());  // stopped: nobody is interested any more
  }
}

std::optional<shuffle::FetchedBlock> ExecutorService::fetch(const task::BlockManagerId& from,
                                                            int32_t shuffle, uint64_t map_id,
                                                            int32_t reduce) {
  // The message itself keeps the block: no copy of a large one.
  std::shared_ptr<const std::string> message;
  try {
    message = std::make_shared<const std::string>(
        state_->env.ask_wait({from.endpoint, std::string(kExecutorEndpoint)},
                             encode(ShuffleBlockId{shuffle, map_id, reduce}),
                             {state_->options.ask_timeout, "tenon.rpc.askTimeout"}));
    wire::MessageReader in = reader(*message, MessageType::shuffle_block_answer);
    if (in.nil()) return std::nullopt;
    shuffle::FetchedBlock fetched;
    fetched.block.bytes = in.bytes();
    fetched.records = in.u64();
    fetched.block.keep = message;
    return fetched;
  } catch (const wire::Error& error) {
    throw to_error(error);
  }
}

void ExecutorService::stop() { state_->env.stop(); }

}  // namespace tenon::service
