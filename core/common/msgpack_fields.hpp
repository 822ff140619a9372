// Reading MessagePack that nobody vouches for. For .cpp files only: it brings msgpack in.
#pragma once

#include <cstddef>
#include <msgpack.hpp>
#include <string>
#include <string_view>

#include "tenon/error.hpp"

namespace tenon::packed {

// Appends to a std::string, as msgpack::packer wants its stream.
struct StringStream {
  std::string& out;
  void write(const char* data, size_t size) { out.append(data, size); }
};
using Packer = msgpack::packer<StringStream>;

inline void pack_bytes(Packer& packer, std::string_view bytes) {
  packer.pack_bin(static_cast<uint32_t>(bytes.size()));
  packer.pack_bin_body(bytes.data(), static_cast<uint32_t>(bytes.size()));
}
inline void pack_text(Packer& packer, std::string_view text) {
  packer.pack_str(static_cast<uint32_t>(text.size()));
  packer.pack_str_body(text.data(), static_cast<uint32_t>(text.size()));
}

// Throws tenon::Error (codec): "<what> cannot be read: <why>".
[[noreturn]] inline void refuse(std::string_view what, std::string_view why) {
  throw Error(ErrorKind::codec, std::string(what) + " cannot be read: " + std::string(why));
}

// The fields of an array, in order; those that a newer sender has appended are left alone. Wrong
// types throw msgpack's errors, which Reader::guard turns into ours.
class Fields {
 public:
  Fields(const msgpack::object& object, const char* what) : what_(what) {
    if (object.type != msgpack::type::ARRAY) refuse(what, "not an array");
    next_ = object.via.array.ptr;
    end_ = next_ + object.via.array.size;
  }
  [[nodiscard]] size_t left() const { return static_cast<size_t>(end_ - next_); }
  const msgpack::object& next() {
    if (next_ == end_) refuse(what_, "fields are missing");
    return *next_++;
  }
  template <class T>
  T number() {
    return next().as<T>();
  }
  // A number that counts or names something: not negative.
  int32_t ordinal() {
    const auto value = number<int32_t>();
    if (value < 0) refuse(what_, "a number is negative");
    return value;
  }
  bool boolean() { return next().as<bool>(); }
  std::string_view bytes() {
    const msgpack::object& object = next();
    if (object.type == msgpack::type::BIN) return {object.via.bin.ptr, object.via.bin.size};
    if (object.type == msgpack::type::STR) return {object.via.str.ptr, object.via.str.size};
    refuse(what_, "something else stands where bytes should be");
  }
  std::string text() { return std::string(bytes()); }

 private:
  const char* what_;
  const msgpack::object* next_ = nullptr;
  const msgpack::object* end_ = nullptr;
};

// A sequence of objects. Each is checked to be whole, and not nested too deep, before memory is
// taken for it; its strings are views into the input.
class Reader {
 public:
  Reader(std::string_view input, const char* what) : input_(input), what_(what) {}

  // The next object; it is gone with the next call.
  const msgpack::object& next() {
    zone_.clear();
    Checker checker;
    size_t end = offset_;
    if (!msgpack::parse(input_.data(), input_.size(), end, checker))
      refuse(what_, "cut or nested too deep");
    const auto refer = [](msgpack::type::object_type, size_t, void*) { return true; };
    object_ = msgpack::unpack(zone_, input_.data(), input_.size(), offset_, refer);
    return object_;
  }
  [[nodiscard]] size_t left() const { return input_.size() - offset_; }
  void expect_end() const {
    if (left() != 0) refuse(what_, "bytes follow its end");
  }

  // Runs the reading; msgpack's own errors become tenon::Error (codec).
  template <class Read>
  static auto guard(const char* what, Read read) {
    try {
      return read();
    } catch (const msgpack::type_error&) {
      refuse(what, "a field has the wrong type or is out of range");
    } catch (const msgpack::unpack_error& error) {
      refuse(what, error.what());
    }
  }

 private:
  // Accepts what is whole, of bounded depth, and of types that we use.
  class Checker : public msgpack::null_visitor {
   public:
    bool start_array(uint32_t) { return ++depth_ <= kMaxDepth; }
    bool end_array() { return --depth_ >= 0; }
    bool start_map(uint32_t) { return ++depth_ <= kMaxDepth; }
    bool end_map() { return --depth_ >= 0; }
    bool visit_ext(const char*, uint32_t) { return false; }

   private:
    static constexpr int kMaxDepth = 8;
    int depth_ = 0;
  };

  std::string_view input_;
  const char* what_;
  size_t offset_ = 0;
  msgpack::zone zone_;
  msgpack::object object_;
};

}  // namespace tenon::packed
