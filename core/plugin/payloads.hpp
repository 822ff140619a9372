// Texts handed over as tenon_buffers without a copy: one allocation for a batch.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "tenon/plugin/abi.h"

namespace tenon::host {

// Each buffer frees its text when it is released, on any thread; the last one frees the batch.
class PayloadBatch {
 public:
  explicit PayloadBatch(size_t count) : batch_(new Batch(count)) {}
  PayloadBatch(const PayloadBatch&) = delete;
  PayloadBatch& operator=(const PayloadBatch&) = delete;
  // Gives up the places that were not used, and its own.
  ~PayloadBatch() { batch_->leave(batch_->count - used_ + 1); }

  // At most `count` times.
  [[nodiscard]] tenon_buffer add(std::string payload) {
    Slot& slot = batch_->slots[used_++];
    slot.payload = std::move(payload);
    slot.batch = batch_;
    return {slot.payload.data(), slot.payload.size(), release, &slot};
  }

 private:
  struct Batch;
  struct Slot {
    std::string payload;
    Batch* batch = nullptr;
  };
  struct Batch {
    explicit Batch(size_t size) : slots(new Slot[size]), count(size), left(size + 1) {}
    void leave(size_t places) {
      if (left.fetch_sub(places, std::memory_order_acq_rel) == places) delete this;
    }
    std::unique_ptr<Slot[]> slots;
    const size_t count;
    std::atomic<size_t> left;
  };
  static void release(void*, void* hint) {
    Slot& slot = *static_cast<Slot*>(hint);
    std::string().swap(slot.payload);
    slot.batch->leave(1);
  }

  Batch* batch_;  // owned by itself: it goes with its last place
  size_t used_ = 0;
};

}  // namespace tenon::host
