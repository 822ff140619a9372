// The bytes that binary_records cuts into records.
#include <algorithm>
#include <optional>
#include <vector>

#include "rdd/file_reader.hpp"
#include "rdd/input_files.hpp"
#include "tenon/detail/binary.hpp"
#include "tenon/error.hpp"

namespace tenon::detail {

struct SplitBytes::State {
  std::vector<rdd::FileRange> ranges;
  size_t at = 0;
  uint64_t done = 0;  // bytes of the stretch
  std::optional<rdd::FileReader> file;
};

SplitBytes::SplitBytes(std::string_view split) : state_(std::make_unique<State>()) {
  state_->ranges = rdd::decode_split(split);
}
SplitBytes::~SplitBytes() = default;

size_t SplitBytes::read(char* to, size_t size) {
  State& state = *state_;
  if (state.at == state.ranges.size()) return 0;
  const rdd::FileRange& range = state.ranges[state.at];
  if (!state.file) state.file.emplace(range.path);
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(size, range.length - state.done));
  const size_t got = state.file->read(to, wanted, range.offset + state.done);
  if (got < wanted) {
    throw Error(ErrorKind::input_output,
                "input file " + range.path + " has become shorter since it was listed");
  }
  state.done += got;
  if (state.done == range.length) {
    ++state.at;
    state.done = 0;
    state.file.reset();
  }
  return got;
}

}  // namespace tenon::detail
