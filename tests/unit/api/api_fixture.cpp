#include "api/api_fixture.hpp"

namespace tenon::test {

ApiTest::ApiTest() {
  ::setenv("TENON_PLUGIN_PATH", TENON_TEST_PLUGIN_DIR, 1);
  ::setenv("TENON_CONF_DIR", conf_folder_.path().c_str(), 1);
  ::unsetenv("TENON_MASTER");
}

std::string ApiTest::describe(context::Scheduling& scheduling) {
  const dag::Sizes dag = scheduling.dag().sizes();
  const task::Sizes tasks = scheduling.tasks().sizes();
  std::string text;
  const auto note = [&](const char* name, size_t n) {
    if (n != 0) text += std::string(name) + "=" + std::to_string(n) + " ";
  };
  note("jobs", dag.jobs);
  note("job_stages", dag.job_stages);
  note("stages", dag.stages);
  note("shuffle_stages", dag.shuffle_stages);
  note("waiting", dag.waiting);
  note("running", dag.running);
  note("failed", dag.failed);
  note("timers", dag.timers);
  note("stages with sets", tasks.stages);
  note("task sets", tasks.task_sets);
  note("attempts", tasks.attempts);
  note("queued", tasks.queued);
  note("pooled", tasks.pooled);
  note("running tasks", tasks.running);
  for (const std::string& violation : scheduling.tasks().check_invariants())
    text += violation + " ";
  return text;
}

}  // namespace tenon::test
