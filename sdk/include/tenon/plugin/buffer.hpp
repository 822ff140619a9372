// The one owned type of the ABI, and arrays whose elements carry it.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "tenon/plugin/abi.h"
#include "tenon/plugin/views.hpp"

namespace tenon::plugin {

// Owns a tenon_buffer: released once, here or by whom it is handed on to.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(tenon_buffer raw) noexcept : raw_(raw) {}
  // Takes the text over; no copy of its bytes unless they are few.
  explicit Buffer(std::string text) {
    auto owner = std::make_unique<std::string>(std::move(text));
    raw_ = {owner->data(), owner->size(),
            [](void*, void* hint) { delete static_cast<std::string*>(hint); }, owner.get()};
    (void)owner.release();
  }
  Buffer(Buffer&& other) noexcept : raw_(std::exchange(other.raw_, {})) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Buffer() {
    if (raw_.release != nullptr) raw_.release(raw_.data, raw_.hint);
  }

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return view(tenon_bytes{raw_.data, raw_.size});
  }
  [[nodiscard]] tenon_buffer release() noexcept { return std::exchange(raw_, {}); }

 private:
  tenon_buffer raw_{};
};

// An array that came with a call marked "moves": whatever is not taken or handed on is released in
// the end.
template <class Array, auto kBuffer>
class OwnedArray {
 public:
  explicit OwnedArray(Array raw) noexcept : raw_(raw) {}
  OwnedArray(OwnedArray&& other) noexcept : raw_(other.release()) {}
  OwnedArray& operator=(OwnedArray&&) = delete;
  ~OwnedArray() {
    for (size_t i = 0; i < raw_.count; ++i) (void)take(i);
  }

  [[nodiscard]] size_t size() const noexcept { return raw_.count; }
  [[nodiscard]] bool empty() const noexcept { return raw_.count == 0; }
  // Element i, what the sender does not know of it being zero. Its buffer stays with the array.
  [[nodiscard]] auto operator[](size_t i) const noexcept { return View<Array>(raw_)[i]; }
  // Takes the buffer of element i; the array has it no longer.
  [[nodiscard]] Buffer take(size_t i) noexcept {
    return Buffer(std::exchange(TENON_AT(raw_, i)->*kBuffer, {}));
  }
  // Hands all of it on, for a call that moves.
  [[nodiscard]] Array release() noexcept { return std::exchange(raw_, {}); }

 private:
  Array raw_;
};

using Tasks = OwnedArray<tenon_tasks, &tenon_task::payload>;
using Statuses = OwnedArray<tenon_task_statuses, &tenon_task_status::data>;

[[nodiscard]] constexpr bool is_terminal(int32_t state) noexcept {
  return state > TENON_TASK_RUNNING && state <= TENON_TASK_RETURNED;
}

}  // namespace tenon::plugin
