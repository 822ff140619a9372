#include "tenon/listener.hpp"

namespace tenon {

namespace {

struct Dispatch {
  Listener& to;

  void operator()(const event::ApplicationStart& e) const { to.on_application_start(e); }
  void operator()(const event::ApplicationEnd& e) const { to.on_application_end(e); }
  void operator()(const event::EnvironmentUpdate& e) const { to.on_environment_update(e); }
  void operator()(const event::JobStart& e) const { to.on_job_start(e); }
  void operator()(const event::JobEnd& e) const { to.on_job_end(e); }
  void operator()(const event::StageSubmitted& e) const { to.on_stage_submitted(e); }
  void operator()(const event::StageCompleted& e) const { to.on_stage_completed(e); }
  void operator()(const event::TaskStart& e) const { to.on_task_start(e); }
  void operator()(const event::TaskGettingResult& e) const { to.on_task_getting_result(e); }
  void operator()(const event::TaskEnd& e) const { to.on_task_end(e); }
  void operator()(const event::ExecutorAdded& e) const { to.on_executor_added(e); }
  void operator()(const event::ExecutorRemoved& e) const { to.on_executor_removed(e); }
  void operator()(const event::BlockManagerAdded& e) const { to.on_block_manager_added(e); }
  void operator()(const event::BlockManagerRemoved& e) const { to.on_block_manager_removed(e); }
  void operator()(const event::UnpersistRdd& e) const { to.on_unpersist_rdd(e); }
};

}  // namespace

Listener::~Listener() = default;

void Listener::on_event(const Event& event) { std::visit(Dispatch{*this}, event); }

}  // namespace tenon
