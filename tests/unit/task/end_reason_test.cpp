#include "task/end_reason.hpp"

#include <gtest/gtest.h>

#include "task/end_reason_codec.hpp"
#include "tenon/error.hpp"

namespace tenon::task {
namespace {

std::vector<EndReason> all_failures() {
  ExceptionFailure exception;
  exception.type = "std::runtime_error";
  exception.message = "no such file";
  exception.origin = "map at wordcount.cpp:14";
  exception.causes = {{"std::logic_error", "inner"}, {"", "42"}};
  exception.no_retry = true;
  exception.accumulators = {{7, std::string("\0\1\2", 3)}, {9, ""}};
  return {Resubmitted{},
          FetchFailed{BlockManagerId{"exec1", "host1", "tcp://host1:1"}, 3, 17, 5, 2, "gone"},
          FetchFailed{std::nullopt, 3, -1, -1, 2, "missing"},
          exception,
          TaskKilled{"Stage finished", {{1, "x"}}},
          TaskCommitDenied{1, 2, 3},
          ExecutorLostFailure{"exec1", "Executor exited with code 1", true},
          ExecutorLostFailure{"exec1", "", false},
          TaskResultLost{},
          UnknownReason{"why"}};
}

bool has_updates(const EndReason& reason, size_t count) {
  if (const auto* failure = std::get_if<ExceptionFailure>(&reason)) {
    return failure->accumulators.size() == count;
  }
  if (const auto* killed = std::get_if<TaskKilled>(&reason)) {
    return killed->accumulators.size() == count;
  }
  return false;
}

TEST(EndReasonCodec, EveryReasonSurvivesTheTrip) {
  for (const EndReason& reason : all_failures()) {
    const EndReason back = decode_end_reason(encode_end_reason(reason));
    EXPECT_EQ(kind_name(back), kind_name(reason));
    EXPECT_EQ(describe(back), describe(reason));
    EXPECT_EQ(encode_end_reason(back), encode_end_reason(reason));
  }
  const auto failures = all_failures();
  const EndReason exception = decode_end_reason(encode_end_reason(failures[3]));
  EXPECT_TRUE(has_updates(exception, 2));
  EXPECT_EQ(std::get<ExceptionFailure>(exception).accumulators[0].bytes, std::string("\0\1\2", 3));
  EXPECT_TRUE(std::get<ExceptionFailure>(exception).no_retry);
  EXPECT_TRUE(has_updates(decode_end_reason(encode_end_reason(failures[4])), 1));
}

TaskResult full_result() {
  TaskResult result;
  result.value = std::string("a\0b", 3);
  result.map_status = MapStatus{{"exec1", "host1", "ep"}, {0, 1, 1ULL << 40}, 99};
  result.accumulators = {{5, "five"}};
  result.metrics.run_ns = -1;
  result.metrics.result_bytes = 1ULL << 63;
  result.metrics.peak_memory_bytes = 12;
  return result;
}

TEST(EndReasonCodec, ATaskResultSurvivesTheTrip) {
  const TaskResult back = decode_task_result(encode_task_result(full_result()));
  EXPECT_EQ(back.value, full_result().value);
  ASSERT_TRUE(back.map_status.has_value());
  EXPECT_EQ(back.map_status->location, full_result().map_status->location);
  EXPECT_EQ(back.map_status->sizes, full_result().map_status->sizes);
  EXPECT_EQ(back.map_status->map_id, 99U);
  ASSERT_EQ(back.accumulators.size(), 1U);
  EXPECT_EQ(back.accumulators[0].id, 5U);
  EXPECT_EQ(back.metrics.run_ns, -1);
  EXPECT_EQ(back.metrics.result_bytes, 1ULL << 63);
  EXPECT_EQ(back.metrics.peak_memory_bytes, 12U);
  EXPECT_FALSE(decode_task_result(encode_task_result(TaskResult{})).map_status.has_value());
}

// Every cut and every changed byte is either refused as a codec error or gives some value; nothing
// else happens.
TEST(EndReasonCodec, MalformedBytesAreRefused) {
  std::vector<std::string> messages = {encode_task_result(full_result())};
  for (const EndReason& reason : all_failures()) messages.push_back(encode_end_reason(reason));
  const auto try_both = [](const std::string& bytes) {
    for (const bool result : {true, false}) {
      try {
        if (result) {
          (void)decode_task_result(bytes);
        } else {
          (void)decode_end_reason(bytes);
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::codec);
      }
    }
  };
  for (const std::string& message : messages) {
    for (size_t cut = 0; cut < message.size(); ++cut) {
      EXPECT_THROW((void)decode_task_result(message.substr(0, cut)), Error);
      EXPECT_THROW((void)decode_end_reason(message.substr(0, cut)), Error);
    }
    for (size_t at = 0; at < message.size(); ++at) {
      for (const int byte : {0x00, 0x80, 0x90, 0xc0, 0xc4, 0xdd, 0xff}) {
        std::string changed = message;
        changed[at] = static_cast<char>(byte);
        try_both(changed);
      }
    }
    try_both(message + "x");
    EXPECT_THROW((void)decode_task_result(message + "x"), Error);
  }
}

TEST(EndReasonCodec, AHeaderThatPromisesTooMuchTakesNoMemory) {
  // array32 and bin32 headers with 2^32-1 elements, alone and nested.
  EXPECT_THROW((void)decode_task_result("\xdd\xff\xff\xff\xff"), Error);
  EXPECT_THROW((void)decode_end_reason("\x92\x01\xc6\xff\xff\xff\xff"), Error);
  EXPECT_THROW((void)decode_end_reason("\x92\x01\xdd\xff\xff\xff\xff"), Error);
  EXPECT_THROW((void)decode_end_reason(std::string(100000, '\x91')), Error);
}

TEST(EndReasonCodec, FieldsOfANewerSenderAreSkipped) {
  std::string bytes = encode_end_reason(UnknownReason{"why"});
  ASSERT_EQ(bytes[0], '\x93');
  bytes[0] = '\x95';
  bytes += std::string("\x92\x01\x02\xa1z", 5);
  EXPECT_EQ(describe(decode_end_reason(bytes)), "UnknownReason (why)");
  EXPECT_THROW((void)decode_end_reason(std::string("\x92\x00\xa1x", 4)), Error);  // version 0
}

TEST(EndReasonCodec, C11_4_UndecodableFailureIsUnknownReason) {
  const StatusUpdate failed = decode_status(7, "e", TaskState::failed, "rubbish");
  EXPECT_EQ(failed.task_id, 7U);
  EXPECT_EQ(failed.executor_id, "e");
  EXPECT_EQ(kind_name(failed.reason), "UnknownReason");
  EXPECT_NE(describe(failed.reason).find("Cannot decode"), std::string::npos);
  EXPECT_EQ(kind_name(decode_status(7, "e", TaskState::finished, "").reason), "UnknownReason");
  const auto good = decode_status(7, "e", TaskState::finished, encode_task_result(full_result()));
  ASSERT_EQ(kind_name(good.reason), "Success");
  EXPECT_EQ(std::get<Success>(good.reason).result->value, full_result().value);
}

TEST(EndReasonCodec, LongTextsAreCut) {
  ExceptionFailure failure;
  failure.type = "T";
  failure.message = std::string(1 << 20, 'x');
  const EndReason back = decode_end_reason(encode_end_reason(failure));
  EXPECT_EQ(std::get<ExceptionFailure>(back).message, std::string(256 * 1024, 'x') + "... (cut)");
}

TEST(EndReason, TextsAreSparks) {
  const auto failures = all_failures();
  EXPECT_EQ(describe(failures[1]),
            "FetchFailed(BlockManagerId(exec1, host1, tcp://host1:1), shuffleId=3, mapIndex=5, "
            "mapId=17, reduceId=2, message=\ngone\n)");
  EXPECT_EQ(describe(failures[2]),
            "FetchFailed(null, shuffleId=3, mapIndex=-1, mapId=-1, reduceId=2, message=\n"
            "missing\n)");
  EXPECT_EQ(describe(failures[3]),
            "std::runtime_error: no such file\n  at map at wordcount.cpp:14\n"
            "  caused by: std::logic_error: inner\n  caused by: 42");
  EXPECT_EQ(describe(failures[4]), "TaskKilled (Stage finished)");
  EXPECT_EQ(describe(failures[5]),
            "TaskCommitDenied (Driver denied task commit) for job: 1, partition: 2, "
            "attemptNumber: 3");
  EXPECT_EQ(describe(failures[6]),
            "ExecutorLostFailure (executor exec1 exited caused by one of the running tasks) "
            "Reason: Executor exited with code 1");
  EXPECT_EQ(describe(failures[7]),
            "ExecutorLostFailure (executor exec1 exited unrelated to the running tasks)");
  EXPECT_EQ(describe(failures[8]), "TaskResultLost (result lost from block manager)");
  EXPECT_EQ(describe(EndReason(UnknownReason{})), "UnknownReason");
}

TEST(EndReason, C9_4_WhatCounts) {
  const struct {
    EndReason reason;
    bool started, counts;
  } rows[] = {
      {Success{}, true, false},
      {Resubmitted{}, true, false},
      {FetchFailed{}, true, false},
      {ExceptionFailure{}, true, true},
      {ExceptionFailure{}, false, true},
      {TaskKilled{}, true, false},
      {TaskCommitDenied{}, true, false},
      {ExecutorLostFailure{"e", "", true}, true, true},
      {ExecutorLostFailure{"e", "", true}, false, false},
      {ExecutorLostFailure{"e", "", false}, true, false},
      {TaskResultLost{}, true, true},
      {UnknownReason{}, true, true},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(counts_toward_failures(row.reason, row.started), row.counts) << kind_name(row.reason);
  }
}

TEST(EndReason, TheErrorHasTheCausesInOrder) {
  EXPECT_EQ(to_error(Success{}), nullptr);
  const auto error = to_error(all_failures()[3]);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->kind(), ErrorKind::user_function);
  EXPECT_EQ(error->message(), "std::runtime_error: no such file\n  at map at wordcount.cpp:14");
  ASSERT_NE(error->cause(), nullptr);
  EXPECT_EQ(error->cause()->message(), "std::logic_error: inner");
  ASSERT_NE(error->cause()->cause(), nullptr);
  EXPECT_EQ(error->cause()->cause()->message(), "42");
  EXPECT_EQ(to_error(ExecutorLostFailure{})->kind(), ErrorKind::executors_lost);
  EXPECT_EQ(to_error(TaskResultLost{})->kind(), ErrorKind::job_failed);
}

TEST(EndReason, LossTexts) {
  using Kind = LossReason::Kind;
  const auto text = [](Kind kind, int32_t code, bool has_code, const char* message) {
    LossReason reason;
    reason.kind = kind;
    reason.exit_code = code;
    reason.has_exit_code = has_code;
    reason.message = message;
    return describe(reason);
  };
  EXPECT_EQ(text(Kind::exited, 1, true, ""), "Executor exited with code 1");
  EXPECT_EQ(text(Kind::exited, 137, true, ""),
            "Executor exited with code 137 (died from signal 9?)");
  EXPECT_EQ(text(Kind::exited, 52, true, "see log"),
            "Executor exited with code 52 (out of memory): see log");
  EXPECT_EQ(text(Kind::exited, 0, false, ""), "Executor process lost");
  EXPECT_EQ(text(Kind::preempted, 0, false, "queue over share"),
            "Executor preempted: queue over share");
}

}  // namespace
}  // namespace tenon::task
