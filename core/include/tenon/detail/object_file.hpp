/// @file object_file.hpp
/// Files of encoded records: save_as_object_file(), object_file() and checkpoints. Not for
/// programs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tenon/detail/encoded_records.hpp"
#include "tenon/detail/kept.hpp"
#include "tenon/detail/type_text.hpp"
#include "tenon/error.hpp"

namespace tenon::detail {

/// In a task: the part of an output (save_output()) with what fill gives. Throws Error
/// (input_output), which names the file.
TENON_API void write_object_part(const std::string& directory, int32_t partition,
                                 const std::string& type,
                                 const std::function<void(const ByteSink&)>& fill);
/// The records of a file that was written with this type. Throws Error (input_output), which names
/// the file and says what is wrong with it.
TENON_API std::shared_ptr<const EncodedPartition> read_object_file(const std::string& path,
                                                                   const std::string& type);
/// In a handler, of what a Codec threw: throws a FatalError that names the file around it; rethrows
/// a want of memory.
[[noreturn]] TENON_API void throw_bad_record(const std::string& path);

/// Gives the partition's records to Write(folder, partition, type, fill).
template <class T, auto Write>
class WriteRecordsAction final : public ActionOperator {
 public:
  explicit WriteRecordsAction(std::string_view bytes) : folder_(decode<std::string>(bytes)) {}
  std::string run(StreamBase& input, const TaskContext& task) const override {
    Write(folder_, task.partition(), type_text<owned_t<T>>(), [&](const ByteSink& sink) {
      encode_stream<T>(static_cast<Stream<T>&>(input), task, sink);
    });
    return {};
  }

 private:
  std::string folder_;
};

/// Streams the records of a file.
template <class T>
class ObjectFileStream final : public Stream<T> {
 public:
  ObjectFileStream(std::string path, PartitionContext& context)
      : path_(std::move(path)),
        context_(context),
        records_(read_object_file(path_, type_text<owned_t<T>>())) {}
  std::span<T> next() override {
    return noting_failure(context_, [this] { return read(); });
  }

 private:
  std::span<T> read() {
    context_.task().throw_if_killed();
    try {
      return records_.next();
    } catch (...) {
      throw_bad_record(path_);
    }
  }

  std::string path_;
  PartitionContext& context_;
  EncodedStream<T> records_;
};

/// A partition's data is the path of its file.
template <class T>
class ObjectFileOperator final : public RddOperator {
 public:
  explicit ObjectFileOperator(std::string_view) {}
  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    return std::make_unique<ObjectFileStream<T>>(std::string(context.data(partition)), context);
  }
};

}  // namespace tenon::detail
