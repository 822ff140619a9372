// The child process of pipe(): fed with lines and read at the same time, so that neither side waits
// for the other with a full pipe.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "common/file_descriptor.hpp"
#include "tenon/detail/rdd_partitions.hpp"
#include "tenon/error.hpp"
#include "tenon/task_context.hpp"

namespace tenon::detail {
namespace {

constexpr size_t kSendBytes = size_t{64} << 10;
constexpr int kKillCheckMs = 100;

[[noreturn]] void fail(const std::string& command, const std::string& what, int error) {
  throw Error(ErrorKind::input_output,
              "pipe: command '" + command + "' " + what + ": " + std::strerror(error));
}

// A write to a process that has gone must not end ours.
class PipeSignalBlocked {
 public:
  PipeSignalBlocked() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalBlocked() {
    if (sigismember(&before_, SIGPIPE) == 0) {
      const timespec at_once{};
      while (sigtimedwait(&pipe_, nullptr, &at_once) > 0) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  PipeSignalBlocked(const PipeSignalBlocked&) = delete;
  PipeSignalBlocked& operator=(const PipeSignalBlocked&) = delete;

 private:
  sigset_t pipe_{}, before_{};
};

struct Ends {
  FileDescriptor read, write;
};
Ends make_pipe(const std::string& command) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(command, "cannot get a pipe", errno);
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// In a process group of its own, with the default signals; returns the process id.
pid_t spawn_shell(const std::string& command, int in, int out) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::array<char*, 4> arguments{const_cast<char*>("sh"), const_cast<char*>("-c"),
                                 const_cast<char*>(command.c_str()), nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, "/bin/sh", &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) fail(command, "cannot be started", error);
  return pid;
}

}  // namespace

struct PipedProcess::State {
  explicit State(std::string text) : command(std::move(text)) {
    Ends in = make_pipe(command), out = make_pipe(command);
    pid = spawn_shell(command, in.read.get(), out.write.get());
    input = std::move(in.write);
    output = std::move(out.read);
    ::fcntl(input.get(), F_SETFL, O_NONBLOCK);
  }
  ~State() {
    if (pid <= 0) return;
    ::kill(-pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Moves bytes either way until all of `unsent` is sent, or it reads no more.
  void pump() {
    while (input && !unsent.empty()) {
      std::array<pollfd, 2> ends{
          {{input.get(), POLLOUT, 0}, {output ? output.get() : -1, POLLIN, 0}}};
      wait(ends.data(), ends.size());
      if (ends[1].revents != 0) receive();
      if (ends[0].revents != 0) feed();
    }
  }
  void wait(pollfd* ends, nfds_t n) const {
    while (::poll(ends, n, kKillCheckMs) <= 0) TaskContext::current()->throw_if_killed();
  }
  void feed() {
    const PipeSignalBlocked blocked;
    const ssize_t n = ::write(input.get(), unsent.data(), unsent.size());
    if (n > 0) {
      unsent.erase(0, static_cast<size_t>(n));
    } else if (errno == EPIPE) {
      input = {};
      unsent.clear();
    } else if (errno != EAGAIN && errno != EINTR) {
      fail(command, "cannot be written to", errno);
    }
  }
  void receive() {
    std::array<char, 65536> bytes;
    const ssize_t n = ::read(output.get(), bytes.data(), bytes.size());
    if (n > 0) {
      received.append(bytes.data(), static_cast<size_t>(n));
    } else if (n == 0) {
      output = {};
    } else if (errno != EINTR) {
      fail(command, "cannot be read from", errno);
    }
  }
  void check_end() {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    pid = -1;
    if (status == 0) return;
    throw Error(
        ErrorKind::user_function,
        "pipe: command '" + command + "' " +
            (WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status))
                                 : "ended with exit code " + std::to_string(WEXITSTATUS(status))));
  }

  const std::string command;
  pid_t pid = -1;
  FileDescriptor input, output;
  std::string unsent, received;
  size_t at = 0;  // of the next line in received
};

PipedProcess::PipedProcess(const std::string& command) : state_(std::make_unique<State>(command)) {}
PipedProcess::~PipedProcess() = default;
PipedProcess::PipedProcess(PipedProcess&&) noexcept = default;

std::string& PipedProcess::buffer() { return state_->unsent; }

bool PipedProcess::send() {
  if (state_->unsent.size() >= kSendBytes) state_->pump();
  return static_cast<bool>(state_->input);
}

void PipedProcess::end_input() {
  state_->pump();
  state_->input = {};
}

bool PipedProcess::next(std::string& line) {
  State& state = *state_;
  for (;;) {
    const size_t end = state.received.find('\n', state.at);
    if (end != std::string::npos) {
      line.assign(state.received, state.at, end - state.at);
      state.at = end + 1;
      return true;
    }
    state.received.erase(0, std::exchange(state.at, 0));
    if (!state.output) break;
    pollfd readable{state.output.get(), POLLIN, 0};
    state.wait(&readable, 1);
    state.receive();
  }
  if (state.pid > 0) state.check_end();
  if (state.received.empty()) return false;
  line = std::exchange(state.received, {});  // a last line without an end
  return true;
}

}  // namespace tenon::detail
