#include "plugin/in_process.hpp"

#include "plugin/loaded_plugin.hpp"

namespace tenon::host {

InProcessRequest read_request(const tenon_executor_args& args,
                              const tenon_executor_backend_api& backend) {
  InProcessRequest request;
  request.backend = complete(backend);
  ExecutorSpec& executor = request.executor;
  executor.executor_id = text(args.executor_id);
  executor.work_dir = text(args.work_dir);
  executor.incarnation = args.incarnation;
  executor.cores = args.cores;
  executor.profile = args.profile;
  executor.memory_bytes = args.memory_bytes;
  executor.resources = resources(args.resources);
  executor.attributes = text_pairs(args.attributes);
  executor.log_urls = text_pairs(args.log_urls);
  executor.peer = args.peer;
  return request;
}

}  // namespace tenon::host
