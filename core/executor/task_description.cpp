#include "executor/task_description.hpp"

#include <bit>
#include <cstring>
#include <limits>

#include "tenon/error.hpp"

namespace tenon::executor {
namespace {

// One fixed head, then the three texts. Driver and executor run the same build, so a layout of our
// own, made by one memcpy, needs no more than the version to refuse what is foreign.
constexpr uint32_t kVersion = 0x314b5354;  // "TSK1"
constexpr uint32_t kNoBinary = std::numeric_limits<uint32_t>::max();
static_assert(std::endian::native == std::endian::little);

struct Head {
  uint32_t version = kVersion;
  uint32_t binary_id_size = 0;
  uint64_t task_id = 0;
  uint64_t epoch = 0;
  int32_t stage_id = 0;
  int32_t stage_attempt = 0;
  int32_t partition = 0;
  int32_t output = 0;
  int32_t attempt = 0;
  uint32_t binary_size = kNoBinary;
  uint32_t data_size = 0;
  uint32_t unused = 0;
};
static_assert(sizeof(Head) == 56);

uint32_t checked(std::string_view text, const char* what) {
  if (text.size() >= kNoBinary) {
    throw Error(ErrorKind::codec, "A task has " + std::to_string(text.size()) + " bytes of " +
                                      what + "; use a broadcast variable for large values");
  }
  return static_cast<uint32_t>(text.size());
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::codec, "Cannot decode a task: " + what);
}

}  // namespace

std::string encode(const TaskDescription& task) {
  Head head;
  head.binary_id_size = checked(task.binary_id, "stage id");
  head.task_id = task.task_id;
  head.epoch = task.epoch;
  head.stage_id = task.stage_id;
  head.stage_attempt = task.stage_attempt;
  head.partition = task.partition;
  head.output = task.output;
  head.attempt = task.attempt;
  if (task.binary) head.binary_size = checked(*task.binary, "stage code");
  head.data_size = checked(task.data, "partition data");
  const std::string_view binary = task.binary.value_or(std::string_view());
  std::string payload;
  payload.reserve(sizeof head + task.binary_id.size() + binary.size() + task.data.size());
  payload.append(reinterpret_cast<const char*>(&head), sizeof head);
  payload.append(task.binary_id).append(binary).append(task.data);
  return payload;
}

TaskDescription decode_task_description(std::string_view payload) {
  Head head;
  if (payload.size() < sizeof head) {
    refuse("it has " + std::to_string(payload.size()) + " bytes, fewer than its head");
  }
  std::memcpy(&head, payload.data(), sizeof head);
  if (head.version != kVersion) refuse("its version is unknown");
  payload.remove_prefix(sizeof head);
  const uint64_t binary_size = head.binary_size == kNoBinary ? 0 : head.binary_size;
  if (uint64_t{head.binary_id_size} + binary_size + head.data_size != payload.size()) {
    refuse("the sizes in its head do not add up to its length");
  }
  TaskDescription task;
  task.task_id = head.task_id;
  task.epoch = head.epoch;
  task.stage_id = head.stage_id;
  task.stage_attempt = head.stage_attempt;
  task.partition = head.partition;
  task.output = head.output;
  task.attempt = head.attempt;
  task.binary_id = payload.substr(0, head.binary_id_size);
  if (head.binary_size != kNoBinary) task.binary = payload.substr(head.binary_id_size, binary_size);
  task.data = payload.substr(head.binary_id_size + binary_size);
  return task;
}

}  // namespace tenon::executor
