// A context on local[2] for each test, and what tests of the program API ask again and again.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "context/driver.hpp"
#include "support/event_order.hpp"
#include "support/wait_until.hpp"
#include "tenon/tenon.hpp"

namespace tenon::test {

// A folder of its own, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = std::filesystem::temp_directory_path() / "tenon-api-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // Writes a file, with the folders above it; returns its path.
  std::string write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  static std::string read(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string path_;
};

// The kind and the whole text of the error that an act ends with.
struct Caught {
  ErrorKind kind{};
  std::string text, message;
  std::shared_ptr<const Error> cause;
};
template <class Act>
Caught caught(Act&& act) {
  try {
    act();
  } catch (const Error& error) {
    return {error.kind(), error.what(), error.message(), error.cause()};
  }
  ADD_FAILURE() << "no error";
  return {};
}

class ApiTest : public ::testing::Test {
 protected:
  ApiTest();
  // After each test nothing of a job may be left (contract C1.5) and the events must have been in
  // order.
  ~ApiTest() override {
    if (!context_) return;
    if (!context_->stopped()) {
      EXPECT_TRUE(wait_until([&] { return left_over().empty(); })) << "left over: " << left_over();
      context_->stop();
    }
    if (check_events_) {
      EXPECT_THAT(EventOrderChecker::check(listener_->events()), ::testing::IsEmpty());
    }
  }

  static Conf conf(const std::string& master = "local[2]") {
    return Conf().set("tenon.master", master).set("tenon.app.name", "unit_api");
  }

  Context& start(const Conf& conf) {
    context_ = std::unique_ptr<Context>(new Context(conf));
    listener_ = std::make_shared<RecordingListener>();
    context_->add_listener(listener_);
    return *context_;
  }
  // Made at the first call, unless start() made another one.
  Context& context() { return context_ ? *context_ : start(conf()); }
  [[nodiscard]] const ScratchFolder& folder() const { return folder_; }

  // A job that must work: the context is usable.
  void expect_usable() { EXPECT_EQ(context().range<int>(0, 10).count(), 10u); }

  // All events of a type so far, after stop(): all at all.
  template <class E>
  std::vector<E> events() const {
    std::vector<E> all;
    if (!listener_) return all;  // no context was made
    for (const Event& event : listener_->events()) {
      if (const auto* e = std::get_if<E>(&event)) all.push_back(*e);
    }
    return all;
  }
  // The events of a type once there are that many.
  template <class E>
  std::vector<E> events(size_t n) const {
    EXPECT_TRUE(wait_until([&] { return events<E>().size() >= n; }))
        << events<E>().size() << " events, " << n << " expected";
    return events<E>();
  }

  void do_not_check_events() { check_events_ = false; }

 private:
  // The schedulers' bookkeeping as text, empty when there is none.
  std::string left_over() {
    std::string text;
    detail::Driver& driver = *context_->driver();
    driver.on_loop([&] { text = describe(driver.scheduling()); });
    return text;
  }
  static std::string describe(context::Scheduling& scheduling);

  ScratchFolder folder_, conf_folder_;
  std::unique_ptr<Context> context_;
  std::shared_ptr<RecordingListener> listener_;
  bool check_events_ = true;
};

// What ran between a mark and now, by its events.
class CountingTest : public ApiTest {
 protected:
  void start_counting() {
    settle();
    jobs_ = events<event::JobStart>().size();
    stages_ = events<event::StageSubmitted>().size();
  }
  size_t jobs_since() {
    settle();
    return events<event::JobStart>().size() - jobs_;
  }
  // Stages that ran: skipped ones do not count.
  size_t stages_since() {
    settle();
    return events<event::StageSubmitted>().size() - stages_;
  }
  std::vector<int> tasks_per_job_since() {
    settle();
    std::vector<int> tasks;
    const auto all = events<event::StageSubmitted>();
    for (size_t i = stages_; i < all.size(); ++i) tasks.push_back(all[i].stage->task_count);
    return tasks;
  }

 private:
  // Until all events of what has happened are here: those of an empty job follow them.
  void settle() {
    const size_t ended = events<event::JobEnd>().size();
    context().run_job(
        context().range(0, 1), [](Records<int>&) { return 0; }, {}, [](int32_t, int) {});
    jobs_ += 1;
    EXPECT_TRUE(wait_until([&] {
      const auto starts = events<event::JobStart>();
      return events<event::JobEnd>().size() > ended &&
             events<event::JobEnd>().size() == starts.size() && !starts.empty() &&
             starts.back().stages.empty();
    }));
  }
  size_t jobs_ = 0, stages_ = 0;
};

}  // namespace tenon::test
