#include "context/services.hpp"

#include <optional>
#include <utility>

#include "tenon/error.hpp"

namespace tenon::context {

struct Services::State {
  State(Sources from, std::chrono::nanoseconds timeout)
      : sources(std::move(from)), ask_timeout(timeout) {}

  const Sources sources;
  const std::chrono::nanoseconds ask_timeout;
  std::mutex mutex;  // guards all below
  std::unordered_map<std::string, std::weak_ptr<const task::StageBinary>> binaries;
  size_t binaries_checked = 64;  // size at which expired ones are dropped next
  std::unordered_map<uint64_t, std::shared_ptr<const std::string>> broadcasts;
  std::map<std::string, std::weak_ptr<storage::BlockManager>> managers;  // by executor id

  std::vector<std::shared_ptr<storage::BlockManager>> live_managers() {
    const std::lock_guard lock(mutex);
    std::vector<std::shared_ptr<storage::BlockManager>> live;
    for (const auto& [id, weak] : managers) {
      if (auto manager = weak.lock()) live.push_back(std::move(manager));
    }
    return live;
  }
};

class Services::Client final : public service::DriverClient {
 public:
  Client(std::shared_ptr<State> state, std::string executor_id)
      : state_(std::move(state)), executor_id_(std::move(executor_id)) {}

  std::shared_ptr<const std::string> stage_binary(const std::string& id) override {
    const std::lock_guard lock(state_->mutex);
    const auto at = state_->binaries.find(id);
    const auto binary = at == state_->binaries.end() ? nullptr : at->second.lock();
    if (!binary) throw Error(ErrorKind::internal, "the driver has no stage binary " + id);
    return std::shared_ptr<const std::string>(binary, &binary->bytes);
  }
  std::shared_ptr<const std::string> broadcast(uint64_t id) override {
    const std::lock_guard lock(state_->mutex);
    const auto at = state_->broadcasts.find(id);
    if (at == state_->broadcasts.end()) {
      throw Error(ErrorKind::invalid_argument,
                  "broadcast " + std::to_string(id) + " was destroyed");
    }
    return at->second;
  }
  shuffle::MapOutputsPtr map_outputs(int32_t shuffle, uint64_t) override {
    auto promise = std::make_shared<std::promise<shuffle::MapOutputsPtr>>();
    auto future = promise->get_future();
    state_->sources.map_outputs(shuffle, [promise](shuffle::MapOutputsPtr outputs) {
      promise->set_value(std::move(outputs));
    });
    if (future.wait_for(state_->ask_timeout) != std::future_status::ready) {
      throw Error(ErrorKind::internal, "the driver gave no answer about shuffle " +
                                           std::to_string(shuffle) +
                                           " within tenon.rpc.askTimeout");
    }
    return future.get();
  }
  void heartbeat(const service::Heartbeat& heartbeat, HeartbeatAnswered answered) override {
    state_->sources.heartbeat(heartbeat,
                              [answered = std::move(answered)](bool reregister) { answered(true, reregister); });
  }
  void block_update(const storage::BlockUpdate& update) override {
    state_->sources.block_update(executor_id_, update);
  }

 private:
  std::shared_ptr<State> state_;
  std::string executor_id_;
};

Services::Services(Sources sources, std::chrono::nanoseconds ask_timeout)
    : state_(std::make_shared<State>(std::move(sources), ask_timeout)) {}
Services::~Services() = default;

void Services::add_binary(const std::shared_ptr<const task::StageBinary>& binary) {
  const std::lock_guard lock(state_->mutex);
  auto& binaries = state_->binaries;
  binaries[binary->id] = binary;
  if (binaries.size() < state_->binaries_checked) return;
  std::erase_if(binaries, [](const auto& entry) { return entry.second.expired(); });
  state_->binaries_checked = 2 * binaries.size() + 64;
}

void Services::add_broadcast(uint64_t id, std::string bytes) {
  auto shared = std::make_shared<const std::string>(std::move(bytes));
  const std::lock_guard lock(state_->mutex);
  state_->broadcasts.emplace(id, std::move(shared));
}

void Services::remove_broadcast(uint64_t id, bool destroy) {
  for (const auto& manager : state_->live_managers()) manager->remove_broadcast(id);
  if (!destroy) return;
  const std::lock_guard lock(state_->mutex);
  state_->broadcasts.erase(id);
}

void Services::remove_rdd(int32_t rdd_id) {
  for (const auto& manager : state_->live_managers()) manager->memory().remove_rdd(rdd_id);
}

executor::ExecutorParts Services::make_parts(const std::string& executor_id,
                                             uint64_t storage_bytes) {
  struct Owner {
    Owner(std::shared_ptr<State> state, const std::string& id) : client(std::move(state), id) {}
    Client client;
    std::shared_ptr<storage::BlockManager> blocks;
  };
  auto owner = std::make_shared<Owner>(state_, executor_id);
  owner->blocks = std::make_shared<storage::BlockManager>(
      storage_bytes, [state = state_, executor_id](const storage::BlockUpdate& update) {
        state->sources.block_update(executor_id, update);
      });
  {
    const std::lock_guard lock(state_->mutex);
    state_->managers[executor_id] = owner->blocks;
  }
  auto services = std::make_shared<executor::TaskServices>(*owner->blocks, owner->client);
  return {std::move(owner), std::move(services)};
}

void Services::fetch_value(task::TaskResult& result, uint64_t task_id) {
  std::shared_ptr<storage::BlockManager> manager;
  {
    const std::lock_guard lock(state_->mutex);
    const auto at = state_->managers.find(result.stored_at->executor_id);
    if (at != state_->managers.end()) manager = at->second.lock();
  }
  if (!manager) return;
  if (auto value = manager->take_result(task_id)) {
    result.value = std::move(*value);
    result.stored_at.reset();
    result.missing_value_bytes = 0;
  }
}

}  // namespace tenon::context
