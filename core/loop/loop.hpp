// The scheduler loop: one thread that owns all scheduling state of the driver. Everything else
// posts to it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string_view>

#include "loop/clock.hpp"
#include "loop/unique_function.hpp"

namespace tenon::loop {

using Work = UniqueFunction<void()>;
using TimerId = uint64_t;  // 0 is never a timer

// What scheduling code sees of the loop. All but post() on the loop's thread.
class Loop {
 public:
  Loop() = default;
  virtual ~Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Queues work; runs in post order. Never blocks on the handling. After stop() the work is
  // dropped. [any-thread]
  virtual void post(Work work) = 0;

  // Runs work once after the delay; equal times run in the order of the calls.
  virtual TimerId call_after(Duration delay, Work work) = 0;
  // An id that has fired or is unknown: nothing.
  virtual void cancel(TimerId id) = 0;

  // Runs at the end of every turn, after the work of the turn: one batch of whatever the turn
  // gathered. In the order of the calls. Also at the end of a turn that stop() cut short.
  virtual void at_turn_end(std::function<void()> hook) = 0;

  // The one place where an exception that escaped a piece of work goes. The loop goes on.
  virtual void set_error_handler(std::function<void(std::exception_ptr)> handler) = 0;

  [[nodiscard]] virtual const Clock& clock() const = 0;
  // The one source of randomness of scheduling; seeded.
  [[nodiscard]] virtual std::mt19937_64& random() = 0;
  // True on the loop's own thread (a manual loop: always).
  [[nodiscard]] virtual bool on_thread() const = 0;
};

// A thread of its own ("tenon-loop") over a real clock. A turn is all the work that waits when it
// begins, then the timers that are due, then the hooks. Before start() the thread that sets the
// loop up may call everything.
class ThreadLoop final : public Loop {
 public:
  // clock outlives the loop. seed: of random().
  ThreadLoop(const Clock& clock, uint64_t seed);
  ~ThreadLoop() override;  // stop()

  // Idempotent; after stop() nothing.
  void start();
  // Ends at once, also with work queued (what is queued is destroyed unrun); joins unless called on
  // the loop's own thread. Idempotent. [any-thread]
  void stop();

  void post(Work work) override;
  TimerId call_after(Duration delay, Work work) override;
  void cancel(TimerId id) override;
  void at_turn_end(std::function<void()> hook) override;
  void set_error_handler(std::function<void(std::exception_ptr)> handler) override;
  [[nodiscard]] const Clock& clock() const override;
  [[nodiscard]] std::mt19937_64& random() override;
  [[nodiscard]] bool on_thread() const override;

  // Takes a line on an error that nothing else takes: an exception that left the error handler, or
  // any when there is no handler (S004-065). Before start(); called on the loop's thread. An
  // exception of its own is dropped.
  void set_last_resort(std::function<void(std::string_view)> last_resort);
  // How many such errors there were. [any-thread]
  [[nodiscard]] uint64_t unexpected_errors() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // also the thread's: the loop may be destroyed on its own thread
};

// Runs on the caller's thread over a manual clock: tests and simulations.
class ManualLoop final : public Loop {
 public:
  explicit ManualLoop(uint64_t seed = 1);
  ~ManualLoop() override;

  // Runs what is queued, and what that queues, until nothing is left (timers that are due
  // included). At least one turn, so that the hooks take what was gathered outside the loop.
  // Without an error handler an exception that escapes a piece of work comes out of here; the rest
  // stays queued.
  void run();
  // Moves the clock on, stopping at each timer that falls due on the way and running all it brings.
  void advance(Duration by);
  // Pieces of work and timers that are waiting.
  [[nodiscard]] size_t queued() const;
  [[nodiscard]] size_t timers() const;

  void post(Work work) override;
  TimerId call_after(Duration delay, Work work) override;
  void cancel(TimerId id) override;
  void at_turn_end(std::function<void()> hook) override;
  void set_error_handler(std::function<void(std::exception_ptr)> handler) override;
  [[nodiscard]] const Clock& clock() const override;
  [[nodiscard]] std::mt19937_64& random() override;
  [[nodiscard]] bool on_thread() const override { return true; }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tenon::loop
