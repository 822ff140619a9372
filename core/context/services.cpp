#include "context/services.hpp"

#include <chrono>
#include <utility>

#include "rdd/operator_registry.hpp"
#include "service/executor_service.hpp"

namespace tenon::context {
namespace {

constexpr const char* kHost = "localhost";

std::chrono::milliseconds milliseconds(const conf::Settings& settings, std::string_view key) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(settings.get_duration(key));
}

// The service ends before what it serves.
struct InProcessParts {
  InProcessParts(service::ExecutorServiceOptions options, uint64_t storage_bytes,
                 std::vector<std::string> local_dirs)
      : service(std::move(options)),
        blocks(
            storage_bytes,
            [this](const storage::BlockUpdate& update) { service.block_update(update); },
            std::move(local_dirs)),
        tasks(blocks, service, &service) {
    service.serve(blocks, tasks.outputs);
    service.register_with_driver(rdd::registered_modules());
  }
  ~InProcessParts() { service.stop(); }
  InProcessParts(const InProcessParts&) = delete;
  InProcessParts& operator=(const InProcessParts&) = delete;

  service::ExecutorService service;
  storage::BlockManager blocks;
  executor::TaskServices tasks;
};

}  // namespace

uint64_t storage_bytes(const conf::Settings& settings) {
  if (settings.has("tenon.memory.storageLimit"))
    return settings.get_size("tenon.memory.storageLimit");
  // Spark's rule: a fraction of what the executor has beyond 300 MiB.
  constexpr uint64_t kReserved = uint64_t{300} << 20;
  const uint64_t memory = settings.get_size("tenon.executor.memory");
  const uint64_t usable = memory > kReserved ? memory - kReserved : memory / 2;
  return static_cast<uint64_t>(settings.get_double("tenon.memory.fraction") *
                               static_cast<double>(usable));
}

Services::Services(const conf::Settings& settings, bool one_process, service::DriverSources sources)
    : settings_(settings) {
  service::DriverServiceOptions options;
  options.address = one_process ? service::unique_inproc_address("driver") : "tcp://127.0.0.1:*";
  options.max_message_bytes = settings.get_size("tenon.rpc.message.maxSize");
  options.ask_timeout = milliseconds(settings, "tenon.rpc.askTimeout");
  options.modules = rdd::registered_modules();
  driver_ = std::make_unique<service::DriverService>(std::move(options), binaries_, broadcasts_,
                                                     std::move(sources));
}

void Services::add_binary(const std::shared_ptr<const task::StageBinary>& binary) {
  if (known_binaries_.size() >= next_drop_) drop_unused_binaries();
  known_binaries_.push_back(binary);
  binaries_.put(binary->id, std::shared_ptr<const std::string>(binary, &binary->bytes));
}

// Two references are ours: the list's and the store's.
void Services::drop_unused_binaries() {
  std::erase_if(known_binaries_, [this](const auto& binary) {
    if (binary.use_count() > 2) return false;
    binaries_.remove(binary->id);
    return true;
  });
  next_drop_ = 2 * known_binaries_.size() + 64;
}

void Services::add_broadcast(uint64_t id, std::string bytes) {
  broadcasts_.put(std::to_string(id), std::make_shared<const std::string>(std::move(bytes)));
}

void Services::remove_broadcast(uint64_t id, std::optional<std::string> destroyed) {
  if (destroyed) broadcasts_.remove(std::to_string(id), std::move(*destroyed));
  driver_->remove_broadcast(id);
}

executor::ExecutorParts Services::make_parts(const std::string& executor_id) {
  service::ExecutorServiceOptions options;
  options.driver_address = driver_->address();
  options.executor_id = executor_id;
  options.host = kHost;
  options.address = service::unique_inproc_address("executor");
  options.max_message_bytes = settings_.get_size("tenon.rpc.message.maxSize");
  options.ask_timeout = milliseconds(settings_, "tenon.rpc.askTimeout");
  options.heartbeat_timeout = milliseconds(settings_, "tenon.executor.heartbeatInterval");
  auto parts = std::make_shared<InProcessParts>(std::move(options), storage_bytes(settings_),
                                                settings_.get_list("tenon.local.dirs"));
  executor::ExecutorParts result;
  result.location = {executor_id, kHost, parts->service.address()};
  result.services = std::shared_ptr<executor::TaskServices>(parts, &parts->tasks);
  const std::lock_guard lock(mutex_);
  executors_.push_back(result.services);
  return result;
}

Services::Usage Services::usage() const {
  const std::lock_guard lock(mutex_);
  Usage sum;
  for (const auto& each : executors_) {
    const auto services = each.lock();
    if (!services) continue;
    sum.cached += services->blocks.memory().used_bytes();
    sum.on_disk += services->blocks.disk().used_bytes();
    sum.map_outputs += services->blocks.usage().map_outputs;
  }
  return sum;
}

}  // namespace tenon::context
