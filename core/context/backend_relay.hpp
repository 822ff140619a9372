// Brings a backend's events to the loop, in their order.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "loop/loop.hpp"
#include "task/backend.hpp"

namespace tenon::context {

// Posts each event; the sink gets it on the loop's thread. [any-thread]
class BackendRelay final : public task::BackendEvents {
 public:
  // Both outlive this.
  BackendRelay(loop::Loop& loop, task::BackendEvents& sink) : loop_(loop), sink_(sink) {}

  void registered(task::Registration registration) override {
    post([r = std::move(registration)](auto& to) mutable { to.registered(std::move(r)); });
  }
  void ready() override {
    post([](auto& to) { to.ready(); });
  }
  void pending(std::string reason, std::string message,
               std::map<std::string, std::string> numbers) override {
    post([r = std::move(reason), m = std::move(message), n = std::move(numbers)](auto& to) mutable {
      to.pending(std::move(r), std::move(m), std::move(n));
    });
  }
  void executor_added(task::Executor executor) override {
    post([e = std::move(executor)](auto& to) mutable { to.executor_added(std::move(e)); });
  }
  void executor_decommissioning(std::string id, int64_t time_left_ms,
                                std::string message) override {
    post([i = std::move(id), time_left_ms, m = std::move(message)](auto& to) mutable {
      to.executor_decommissioning(std::move(i), time_left_ms, std::move(m));
    });
  }
  void executor_loss_pending(std::string id, std::string message) override {
    post([i = std::move(id), m = std::move(message)](auto& to) mutable {
      to.executor_loss_pending(std::move(i), std::move(m));
    });
  }
  void executor_removed(std::string id, task::LossReason reason) override {
    post([i = std::move(id), r = std::move(reason)](auto& to) mutable {
      to.executor_removed(std::move(i), std::move(r));
    });
  }
  void worker_removed(std::string worker, std::string host, std::string message) override {
    post([w = std::move(worker), h = std::move(host), m = std::move(message)](auto& to) mutable {
      to.worker_removed(std::move(w), std::move(h), std::move(m));
    });
  }
  void resource_offers(uint64_t offer, task::OfferScope scope,
                       std::vector<task::WorkerOffer> offers) override {
    post([offer, scope, o = std::move(offers)](auto& to) mutable {
      to.resource_offers(offer, scope, std::move(o));
    });
  }
  void status_update(std::vector<task::StatusUpdate> statuses) override {
    post([s = std::move(statuses)](auto& to) mutable { to.status_update(std::move(s)); });
  }
  void acknowledged(uint64_t request, bool ok, std::vector<std::string> ids) override {
    post([request, ok, i = std::move(ids)](auto& to) mutable {
      to.acknowledged(request, ok, std::move(i));
    });
  }
  void stopped() override {
    post([](auto& to) { to.stopped(); });
  }
  void failed(ErrorKind kind, std::string message) override {
    post([kind, m = std::move(message)](auto& to) mutable { to.failed(kind, std::move(m)); });
  }

 private:
  template <class Call>
  void post(Call call) {
    loop_.post([&to = sink_, call = std::move(call)]() mutable { call(to); });
  }

  loop::Loop& loop_;
  task::BackendEvents& sink_;
};

}  // namespace tenon::context
