#include <simdjson.h>

#include <string>
#include <utility>

#include "common/text.hpp"
#include "rdd/json_parse.hpp"
#include "tenon/error.hpp"
#include "tenon/json.hpp"

namespace tenon {
namespace {

namespace dom = simdjson::dom;
using Found = simdjson::simdjson_result<dom::element>;

[[noreturn]] void fail(const detail::RecordPlace& place, const std::string& what) {
  throw FatalError(ErrorKind::input_output, detail::place_text(place) + what);
}

std::string shown(std::string_view where) {
  return where.empty() ? ": the value" : ": the value at " + quote(where);
}

// The value of the text that was asked about last on this thread: questions about one record come
// one after another.
struct Last {
  dom::parser parser;
  std::string text;
  Found root = simdjson::UNINITIALIZED;
};

Found parse(std::string_view text) {
  thread_local Last last;
  if (last.root.error() != simdjson::SUCCESS || last.text != text) {
    last.root = simdjson::UNINITIALIZED;
    last.text = text;
    last.root = last.parser.parse(last.text);
  }
  return last.root;
}

Found look_up(const JsonRecord& record, std::string_view where) {
  const Found root = parse(record.text());
  if (where.empty()) return root;
  return where.starts_with('/') ? root.at_pointer(where) : root.at_key(where);
}

dom::element need(const JsonRecord& record, std::string_view where) {
  dom::element value;
  if (look_up(record, where).get(value) != simdjson::SUCCESS) {
    fail(record.place(), shown(where) + " is missing");
  }
  return value;
}

[[noreturn]] void fail_kind(const JsonRecord& record, std::string_view where,
                            const std::string& wanted) {
  fail(record.place(),
       shown(where) + " is " + quote(simdjson::minify(need(record, where))) + ", no " + wanted);
}

}  // namespace

std::string rdd::json_fault(std::string_view text) {
  const Found root = parse(text);
  return root.error() == simdjson::SUCCESS ? "" : simdjson::error_message(root.error());
}

JsonRecord::JsonRecord(std::string text) : text_(std::move(text)) {
  const std::string fault = rdd::json_fault(text_);
  if (!fault.empty()) {
    throw Error(ErrorKind::invalid_argument,
                "JsonRecord: " + quote(text_) + " is no JSON value: " + fault);
  }
}

bool JsonRecord::has(std::string_view where) const {
  return look_up(*this, where).error() == simdjson::SUCCESS;
}

JsonRecord JsonRecord::at(std::string_view where) const {
  return {simdjson::minify(need(*this, where)), place_};
}

std::vector<JsonRecord> JsonRecord::elements(std::string_view where) const {
  dom::array array;
  if (need(*this, where).get(array) != simdjson::SUCCESS) fail_kind(*this, where, "array");
  std::vector<JsonRecord> all;
  for (const dom::element element : array) {
    all.emplace_back(simdjson::minify(element), place_);
  }
  return all;
}

std::vector<std::string> JsonRecord::keys(std::string_view where) const {
  dom::object object;
  if (need(*this, where).get(object) != simdjson::SUCCESS) fail_kind(*this, where, "object");
  std::vector<std::string> all;
  for (const auto& member : object) all.emplace_back(member.key);
  return all;
}

template <class As, class T>
bool JsonRecord::read_as(std::string_view where, T& value, TypeName wanted) const {
  dom::element found;
  if (look_up(*this, where).get(found) != simdjson::SUCCESS || found.is_null()) return false;
  As as{};
  if (found.get(as) != simdjson::SUCCESS) throw_other(where, wanted());
  value = as;
  return true;
}
bool JsonRecord::read(std::string_view where, bool& value, TypeName wanted) const {
  return read_as<bool>(where, value, wanted);
}
bool JsonRecord::read(std::string_view where, int64_t& value, TypeName wanted) const {
  return read_as<int64_t>(where, value, wanted);
}
bool JsonRecord::read(std::string_view where, uint64_t& value, TypeName wanted) const {
  return read_as<uint64_t>(where, value, wanted);
}
bool JsonRecord::read(std::string_view where, double& value, TypeName wanted) const {
  return read_as<double>(where, value, wanted);
}
bool JsonRecord::read(std::string_view where, std::string& value, TypeName wanted) const {
  return read_as<std::string_view>(where, value, wanted);
}

void JsonRecord::throw_absent(std::string_view where, const std::string& wanted) const {
  fail(place_, shown(where) + (has(where) ? " is null" : " is missing") + ", no " + wanted);
}

void JsonRecord::throw_other(std::string_view where, const std::string& wanted) const {
  fail_kind(*this, where, wanted);
}

}  // namespace tenon
