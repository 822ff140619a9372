/// @file encoded_records.hpp
/// Partitions kept as bytes: frames of encoded records. Not for programs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tenon/codec.hpp"
#include "tenon/detail/batch.hpp"
#include "tenon/detail/owned.hpp"
#include "tenon/detail/runtime.hpp"

namespace tenon::detail {

/// Encoded records in memory.
class EncodedInMemory final : public EncodedPartition {
 public:
  explicit EncodedInMemory(std::string bytes) : bytes_(std::move(bytes)) { bytes_.shrink_to_fit(); }
  [[nodiscard]] uint64_t bytes() const override { return sizeof *this + bytes_.capacity(); }
  [[nodiscard]] std::string_view records() const override { return bytes_; }

 private:
  std::string bytes_;
};

/// Writes records in frames: their number, the length of their bytes, the bytes. The number is
/// there because a record may be of no bytes at all.
template <class T>
class FrameWriter {
 public:
  explicit FrameWriter(const ByteSink& sink) : sink_(sink) {}
  void add(const T& record) {
    Codec<T>::write(out_, record);
    ++records_;
    if (bytes_.size() >= kFrameBytes) flush();
  }
  /// After the last record.
  void finish() {
    if (records_ != 0) flush();
  }

 private:
  static constexpr size_t kFrameBytes = size_t{1} << 18;
  void flush() {
    std::string head;
    ByteWriter out(head);
    out.fixed(records_);
    out.fixed(uint64_t{bytes_.size()});
    sink_(head);
    sink_(bytes_);
    bytes_.clear();
    records_ = 0;
  }

  const ByteSink& sink_;
  std::string bytes_;
  ByteWriter out_{bytes_};
  uint64_t records_ = 0;
};

/// Reads a stream to its end into frames.
template <class T>
void encode_stream(Stream<T>& input, const TaskContext& task, const ByteSink& sink) {
  FrameWriter<owned_t<T>> out(sink);
  for (auto batch = input.next(); !batch.empty(); batch = input.next()) {
    task.throw_if_killed();
    for (T& record : batch) out.add(to_owned(std::move(record)));
  }
  out.finish();
}

/// Streams encoded records.
template <class T>
class EncodedStream final : public Stream<T> {
 public:
  explicit EncodedStream(std::shared_ptr<const EncodedPartition> kept)
      : kept_(std::move(kept)), frames_(kept_->records()) {}
  std::span<T> next() override {
    views_.clear();
    owned_.clear();
    while (!owned_.full() && (left_ != 0 || next_frame())) {
      owned_.emplace(Codec<owned_t<T>>::read(frame_));
      --left_;
    }
    if constexpr (is_owned_v<T>) {
      return owned_.span();
    } else {
      for (const auto& record : owned_.span()) views_.emplace(view_of<T>(record));
      return views_.span();
    }
  }

 private:
  bool next_frame() {
    while (left_ == 0) {
      if (!frame_.at_end()) throw_left_over(frame_.left());
      if (frames_.at_end()) return false;
      left_ = frames_.fixed<uint64_t>();
      frame_ = ByteReader(frames_.raw(frames_.fixed<uint64_t>()));
    }
    return true;
  }

  std::shared_ptr<const EncodedPartition> kept_;
  ByteReader frames_;
  ByteReader frame_{{}};
  uint64_t left_ = 0;  // records of the frame
  Batch<owned_t<T>> owned_;
  Batch<T> views_;  // of owned_, where they differ
};

}  // namespace tenon::detail
