// A job on its way into the DagScheduler, and who hears of its end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rdd/node.hpp"
#include "task/end_reason.hpp"

namespace tenon::dag {

// Called on the scheduler's thread; runs no user code there.
class JobListener {
 public:
  JobListener() = default;
  virtual ~JobListener() = default;
  JobListener(const JobListener&) = delete;
  JobListener& operator=(const JobListener&) = delete;

  // The encoded value of one position, once per position. True: it is handled. False: the user's
  // result handler runs elsewhere, and ResultHandled or ResultHandlerFailed will be posted for the
  // position.
  virtual bool task_succeeded(int32_t position, std::string value) = 0;
  // Exactly one of the two, last.
  virtual void job_succeeded() = 0;
  virtual void job_failed(std::shared_ptr<const Error> error) = 0;
};

// Bytes that each reduce partition of a shuffle will read: the result of a map-stage job.
struct MapOutputStatistics {
  int32_t shuffle_id = 0;
  std::vector<uint64_t> bytes_by_partition;
};

struct JobRequest {
  int32_t id = 0;
  rdd::NodePtr node;
  rdd::Operator action;             // what a result task does with its partition
  std::vector<int32_t> partitions;  // any subset, any order, also repeated
  CallSite call_site;
  Properties properties;
  std::shared_ptr<JobListener> listener;
};

struct MapStageRequest {
  int32_t id = 0;
  rdd::ShufflePtr shuffle;
  CallSite call_site;
  Properties properties;
  std::shared_ptr<JobListener> listener;                   // task_succeeded is not called
  std::function<void(MapOutputStatistics)> on_statistics;  // before job_succeeded
};

}  // namespace tenon::dag
