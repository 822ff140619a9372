#include "rdd/compressed_file.hpp"

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <memory>
#include <span>

#include "rdd/file_reader.hpp"
#include "tenon/error.hpp"
#include "tenon/task_context.hpp"

namespace tenon::rdd {
namespace {

constexpr size_t kChunk = size_t{256} << 10;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::input_output, "input file " + path + " cannot be decompressed: " + why);
}

// Hands a file out in chunks.
class Chunks {
 public:
  explicit Chunks(const std::string& path) : file_(path), buffer_(new char[kChunk]) {}
  // Empty at the end.
  std::span<char> next() {
    if (const TaskContext* task = TaskContext::current()) task->throw_if_killed();
    const size_t n = file_.read(buffer_.get(), kChunk, offset_);
    offset_ += n;
    return {buffer_.get(), n};
  }

 private:
  FileReader file_;
  std::unique_ptr<char[]> buffer_;
  uint64_t offset_ = 0;
};

constexpr const char* kCutShort = "it ends in the middle";

// A file may hold several members, as `cat a.gz b.gz` makes it.
std::string read_gzip(const std::string& path) {
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) refuse(path, "zlib cannot be set up");
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> owner(&stream, &inflateEnd);
  std::string text;
  Chunks chunks(path);
  std::array<char, kChunk> out;
  bool within = false;
  for (auto in = chunks.next(); !in.empty(); in = chunks.next()) {
    stream.next_in = reinterpret_cast<Bytef*>(in.data());
    stream.avail_in = static_cast<uInt>(in.size());
    do {
      if (!within && inflateReset(&stream) != Z_OK) refuse(path, "zlib cannot be set up");
      within = true;
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = kChunk;
      const int rc = inflate(&stream, Z_NO_FLUSH);
      if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR) {
        refuse(path, stream.msg != nullptr ? stream.msg : "it is no gzip file");
      }
      text.append(out.data(), kChunk - stream.avail_out);
      if (rc == Z_STREAM_END) within = false;
    } while (stream.avail_in > 0 || stream.avail_out == 0);
  }
  if (within) refuse(path, kCutShort);
  return text;
}

std::string read_zstd(const std::string& path) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          &ZSTD_freeDStream);
  std::string text;
  Chunks chunks(path);
  std::array<char, kChunk> out;
  size_t left = 0;  // 0: between two frames
  for (auto in = chunks.next(); !in.empty(); in = chunks.next()) {
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    do {
      output.pos = 0;
      left = ZSTD_decompressStream(stream.get(), &output, &input);
      if (ZSTD_isError(left) != 0) refuse(path, ZSTD_getErrorName(left));
      text.append(out.data(), output.pos);
    } while (input.pos < input.size || output.pos == output.size);
  }
  if (left != 0) refuse(path, kCutShort);
  return text;
}

std::string read_lz4(const std::string& path) {
  LZ4F_dctx* context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) {
    refuse(path, "lz4 cannot be set up");
  }
  const std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> owner(
      context, &LZ4F_freeDecompressionContext);
  std::string text;
  Chunks chunks(path);
  std::array<char, kChunk> out;
  size_t left = 0;  // 0: between two frames
  for (auto in = chunks.next(); !in.empty(); in = chunks.next()) {
    size_t produced = 0;
    do {
      size_t consumed = in.size();
      produced = out.size();
      left = LZ4F_decompress(context, out.data(), &produced, in.data(), &consumed, nullptr);
      if (LZ4F_isError(left) != 0) refuse(path, LZ4F_getErrorName(left));
      text.append(out.data(), produced);
      in = in.subspan(consumed);
    } while (!in.empty() || produced == out.size());
  }
  if (left != 0) refuse(path, kCutShort);
  return text;
}

}  // namespace

bool is_compressed(std::string_view path) {
  return path.ends_with(".gz") || path.ends_with(".zst") || path.ends_with(".lz4");
}

std::string read_compressed(const std::string& path) {
  if (path.ends_with(".gz")) return read_gzip(path);
  if (path.ends_with(".zst")) return read_zstd(path);
  return read_lz4(path);
}

}  // namespace tenon::rdd
