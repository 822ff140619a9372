// A program that ends while its context is active and a job runs: ending_program wait|exit|thread
//   wait    waits for the job, until somebody ends it
//   exit    calls exit(5) in main
//   thread  calls exit(6) in another thread
// Prints "running" once a task runs, and the code of the application's end.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "tenon/tenon.hpp"

namespace {

class Printer final : public tenon::Listener {
  void on_application_end(const tenon::event::ApplicationEnd& end) override {
    std::cout << "application end " << end.exit_code << std::endl;
  }
};

int run_until_killed(int n) {
  if (n == 0) std::cout << "running" << std::endl;
  for (;;) {
    tenon::TaskContext::current()->throw_if_killed();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  tenon::Context ctx(argc, argv, {.app = "ending", .master = "several[2]"});
  ctx.add_listener(std::make_shared<Printer>());
  auto job = ctx.range(0, 2, 1, 2).map(tenon::fn<run_until_killed>).count_async();
  if (mode == "exit") std::exit(5);
  if (mode == "thread") std::thread([] { std::exit(6); }).join();
  std::cout << job.get() << std::endl;
}
