#include "executor/task_description.hpp"

#include <chrono>
#include <random>

#include "tenon/error.hpp"

namespace tenon::executor {
namespace {

TaskDescription sample() {
  TaskDescription task;
  task.task_id = 0xfedcba9876543210;
  task.epoch = 77;
  task.stage_id = 3;
  task.stage_attempt = 1;
  task.partition = 100'000;
  task.output = 5;
  task.attempt = 2;
  task.binary_id = "stage 3.1";
  task.binary = "code";
  task.data = std::string_view("da\0ta", 5);
  return task;
}

TEST(TaskDescription, S000_061_ComesBackAsItWas) {
  for (const bool with_binary : {true, false}) {
    TaskDescription task = sample();
    if (!with_binary) task.binary.reset();
    const std::string payload = encode(task);
    const TaskDescription back = decode_task_description(payload);
    EXPECT_EQ(back.task_id, task.task_id);
    EXPECT_EQ(back.epoch, task.epoch);
    EXPECT_EQ(back.stage_id, task.stage_id);
    EXPECT_EQ(back.stage_attempt, task.stage_attempt);
    EXPECT_EQ(back.partition, task.partition);
    EXPECT_EQ(back.output, task.output);
    EXPECT_EQ(back.attempt, task.attempt);
    EXPECT_EQ(back.binary_id, task.binary_id);
    EXPECT_EQ(back.binary, task.binary);
    EXPECT_EQ(back.data, task.data);
    EXPECT_GE(back.data.data(), payload.data());  // a view, not a copy
  }
}

TEST(TaskDescription, EveryOtherLengthIsRefused) {
  const std::string payload = encode(sample());
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_THROW(static_cast<void>(decode_task_description(payload.substr(0, size))), Error)
        << size;
  }
  EXPECT_THROW(static_cast<void>(decode_task_description(payload + "x")), Error);
}

TEST(TaskDescription, DamagedBytesAreReadOrRefused) {
  std::mt19937 random(1);
  const std::string payload = encode(sample());
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = payload;
    for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    try {
      const TaskDescription task = decode_task_description(damaged);
      EXPECT_LE(task.binary_id.size() + task.data.size(), damaged.size());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::codec);
    }
  }
}

}  // namespace
}  // namespace tenon::executor
