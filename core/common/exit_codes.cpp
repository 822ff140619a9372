#include "common/exit_codes.hpp"

namespace tenon::exit_codes {
namespace {

constexpr Row kRows[] = {
    {"0", "the application succeeded"},
    {"any", "an exit code that the program chose passes through unchanged"},
    {"1", "a job failed, or an error left main"},
    {"2", "usage: bad option, bad master URL, unknown scheme, bad or unknown setting"},
    {"3", "a plugin cannot be loaded, or has another ABI"},
    {"4", "the cluster cannot be reached (connection, authentication, version)"},
    {"5", "no resources within tenon.scheduler.maxWait"},
    {"6", "a job failed because executors were lost beyond the limits"},
    {"7", "input or output refused before start (missing, exists)"},
    {"130", "interrupted (Ctrl-C), after clean-up"},
    {"143", "terminated (SIGTERM), after clean-up"},
    {"128+n", "the program was ended by signal n (137: SIGKILL)"},
    {"50", "executor: uncaught error"},
    {"51", "executor: error while reporting an uncaught error"},
    {"52", "executor: out of memory"},
    {"53", "executor: disk store cannot be used"},
    {"56", "executor: the driver did not take its heartbeats"},
};

}  // namespace

std::span<const Row> table() { return kRows; }

}  // namespace tenon::exit_codes
