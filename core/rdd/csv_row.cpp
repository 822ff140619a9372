#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "common/text.hpp"
#include "tenon/csv.hpp"
#include "tenon/error.hpp"

namespace tenon {

CsvRow::CsvRow(const std::vector<std::string>& fields, std::vector<std::string> names) {
  if (!names.empty()) {
    place_.file =
        std::make_shared<const detail::RecordFile>(detail::RecordFile{{}, std::move(names)});
  }
  for (const std::string& field : fields) add_field(field);
}

void CsvRow::add_field(std::string_view text) {
  if (text.size() > std::numeric_limits<uint32_t>::max() - text_.size()) {
    throw FatalError(ErrorKind::input_output,
                     detail::place_text(place_) + ": a row of 4 GiB and more cannot be read");
  }
  text_ += text;
  ends_.push_back(static_cast<uint32_t>(text_.size()));
}

std::span<const std::string> CsvRow::names() const {
  if (!place_.file) return {};
  return place_.file->names;
}

std::string_view CsvRow::operator[](size_t field) const {
  if (field >= ends_.size()) {
    throw FatalError(ErrorKind::invalid_argument,
                     detail::place_text(place_) + ": field " + std::to_string(field) +
                         " was asked for, counted from 0, of a row of " + std::to_string(size()));
  }
  const size_t begin = field == 0 ? 0 : ends_[field - 1];
  return std::string_view(text_).substr(begin, ends_[field] - begin);
}

size_t CsvRow::number_of(std::string_view name) const {
  const auto all = names();
  const auto found = std::find(all.begin(), all.end(), name);
  if (found != all.end()) return static_cast<size_t>(found - all.begin());
  const std::string why = all.empty() ? "its file has no header; ask by number, or read with "
                                        "CsvOptions::header"
                                      : "the header has " + join(all, ", ");
  throw FatalError(ErrorKind::invalid_argument,
                   detail::place_text(place_) + " has no field " + quote(name) + ": " + why);
}

bool CsvRow::has(std::string_view name) const {
  const auto all = names();
  return static_cast<size_t>(std::find(all.begin(), all.end(), name) - all.begin()) <
         std::min(all.size(), size());
}

void CsvRow::throw_bad_field(size_t field, const std::string& wanted) const {
  const auto all = names();
  const std::string name = field < all.size() ? quote(all[field]) : std::to_string(field);
  throw FatalError(ErrorKind::input_output, detail::place_text(place_) + ": field " + name +
                                                " is " + quote((*this)[field]) + ", no " + wanted);
}

void Codec<CsvRow>::write(ByteWriter& out, const CsvRow& row) {
  detail::write_place(out, row.place_);
  out.text(row.text_);
  Codec<std::vector<uint32_t>>::write(out, row.ends_);
}

CsvRow Codec<CsvRow>::read(ByteReader& in) {
  CsvRow row(detail::read_place(in));
  row.text_ = in.text();
  row.ends_ = Codec<std::vector<uint32_t>>::read(in);
  if (!std::is_sorted(row.ends_.begin(), row.ends_.end()) ||
      (row.ends_.empty() ? 0 : row.ends_.back()) != row.text_.size()) {
    throw Error(ErrorKind::codec, "the fields of a CsvRow do not fit its text");
  }
  return row;
}

}  // namespace tenon
