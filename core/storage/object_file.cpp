#include "storage/object_file.hpp"

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "rdd/part_name.hpp"
#include "storage/checked_file.hpp"
#include "tenon/detail/bytes.hpp"
#include "tenon/detail/object_file.hpp"
#include "tenon/error.hpp"

namespace tenon::storage {
namespace {

constexpr std::string_view kBegin = "TENONOBJ", kEnd = "TENONEND";
constexpr uint32_t kVersion = 1;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw FatalError(ErrorKind::input_output, "file " + path + " " + why);
}

// Whether it is such a file at all; before its checksum is looked at, which only such a file has.
void check_ends(const std::string& path, std::string_view bytes) {
  constexpr const char* kCutShort = "is cut short: what wrote or copied it did not come to its end";
  if (!kBegin.starts_with(bytes.substr(0, kBegin.size()))) {
    refuse(path, "is no object file: it does not begin as save_as_object_file() writes it");
  }
  if (bytes.size() < kBegin.size() + sizeof kVersion) refuse(path, kCutShort);
  const auto version = ByteReader(bytes.substr(kBegin.size())).fixed<uint32_t>();
  if (version != kVersion) {
    refuse(path, "has format version " + std::to_string(version) + ", and this program reads " +
                     std::to_string(kVersion) +
                     "; read it with the version of Tenon that wrote it");
  }
  if (!bytes.ends_with(kEnd)) refuse(path, kCutShort);
}

// The records within the file's bytes.
class ObjectFile final : public detail::EncodedPartition {
 public:
  ObjectFile(std::shared_ptr<const detail::EncodedPartition> file, std::string_view records)
      : file_(std::move(file)), records_(records) {}
  [[nodiscard]] uint64_t bytes() const override { return sizeof *this + file_->bytes(); }
  [[nodiscard]] std::string_view records() const override { return records_; }

 private:
  std::shared_ptr<const detail::EncodedPartition> file_;
  std::string_view records_;
};

}  // namespace

void write_object_file(const std::string& path, const std::string& type,
                       const std::function<void(const detail::ByteSink&)>& fill) {
  write_checked_file(path, [&](const detail::ByteSink& sink) {
    std::string head(kBegin);
    ByteWriter out(head);
    out.fixed(kVersion);
    out.fixed(static_cast<uint32_t>(type.size()));
    head += type;
    sink(head);
    fill(sink);
    sink(kEnd);
  });
}

std::shared_ptr<const detail::EncodedPartition> read_object_file(const std::string& path,
                                                                 const std::string& type) {
  auto file = read_checked_file(path, [&](std::string_view bytes) { check_ends(path, bytes); });
  std::string_view bytes = file->records();
  bytes.remove_suffix(kEnd.size());
  ByteReader in(bytes.substr(kBegin.size() + sizeof kVersion));
  const std::string_view found = in.raw(in.fixed<uint32_t>());
  if (found != type) {
    refuse(path, "holds records of type " + std::string(found) + ", not of " + type);
  }
  const std::string_view records = in.raw(in.left());
  return std::make_shared<const ObjectFile>(std::move(file), records);
}

}  // namespace tenon::storage

namespace tenon::detail {

void write_object_part(const std::string& directory, int32_t partition, const std::string& type,
                       const std::function<void(const ByteSink&)>& fill) {
  storage::write_object_file(rdd::temporary_part(directory, partition), type, fill);
}

std::shared_ptr<const EncodedPartition> read_object_file(const std::string& path,
                                                         const std::string& type) {
  return storage::read_object_file(path, type);
}

void throw_bad_record(const std::string& path) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    std::throw_with_nested(FatalError(
        ErrorKind::input_output, "file " + path + " holds a record that its Codec cannot read"));
  }
}

}  // namespace tenon::detail
