// A move-only std::function: takes move-only callables and keeps small ones without an allocation.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace tenon::loop {

template <class Signature>
class UniqueFunction;

template <class R, class... Args>
class UniqueFunction<R(Args...)> {
 public:
  // Callables up to this size, and with a move that cannot throw, live inside the object.
  static constexpr size_t kInlineBytes = 64;

  UniqueFunction() noexcept = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as std::function
  UniqueFunction(std::nullptr_t) noexcept {}

  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, UniqueFunction> &&
             std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
  UniqueFunction(F&& f) {  // NOLINT(google-explicit-constructor): as std::function
    using Callable = std::decay_t<F>;
    if constexpr (std::is_pointer_v<std::remove_reference_t<F>>) {
      if (f == nullptr) return;
    }
    if constexpr (fits<Callable>()) {
      ::new (static_cast<void*>(buffer_)) Callable(std::forward<F>(f));
      table_ = &kInlineTable<Callable>;
    } else {
      ::new (static_cast<void*>(buffer_)) Callable*(new Callable(std::forward<F>(f)));
      table_ = &kHeapTable<Callable>;
    }
  }

  UniqueFunction(UniqueFunction&& other) noexcept { take(other); }
  UniqueFunction& operator=(UniqueFunction&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  UniqueFunction(const UniqueFunction&) = delete;
  UniqueFunction& operator=(const UniqueFunction&) = delete;
  ~UniqueFunction() { reset(); }

  // Destroys the callable.
  void reset() noexcept {
    if (const Table* table = std::exchange(table_, nullptr)) table->destroy(buffer_);
  }

  [[nodiscard]] explicit operator bool() const noexcept { return table_ != nullptr; }

  // Undefined when empty.
  R operator()(Args... args) { return table_->invoke(buffer_, std::forward<Args>(args)...); }

 private:
  struct Table {
    R (*invoke)(void* self, Args&&... args);
    void (*relocate)(void* to, void* from) noexcept;  // moves, and destroys what was moved from
    void (*destroy)(void* self) noexcept;
  };

  template <class Callable>
  static constexpr bool fits() {
    return sizeof(Callable) <= kInlineBytes && alignof(Callable) <= alignof(std::max_align_t) &&
           std::is_nothrow_move_constructible_v<Callable>;
  }

  template <class Callable>
  static Callable& inline_ref(void* self) noexcept {
    return *std::launder(static_cast<Callable*>(self));
  }
  template <class Callable>
  static Callable*& heap_ref(void* self) noexcept {
    return *std::launder(static_cast<Callable**>(self));
  }

  template <class Callable>
  static R call(Callable& callable, Args&&... args) {
    if constexpr (std::is_void_v<R>) {
      callable(std::forward<Args>(args)...);
    } else {
      return callable(std::forward<Args>(args)...);
    }
  }

  template <class Callable>
  static constexpr Table kInlineTable{
      [](void* self, Args&&... args) -> R {
        return call(inline_ref<Callable>(self), std::forward<Args>(args)...);
      },
      [](void* to, void* from) noexcept {
        Callable& source = inline_ref<Callable>(from);
        ::new (to) Callable(std::move(source));
        source.~Callable();
      },
      [](void* self) noexcept { inline_ref<Callable>(self).~Callable(); }};

  template <class Callable>
  static constexpr Table kHeapTable{
      [](void* self, Args&&... args) -> R {
        return call(*heap_ref<Callable>(self), std::forward<Args>(args)...);
      },
      [](void* to, void* from) noexcept { ::new (to) Callable*(heap_ref<Callable>(from)); },
      [](void* self) noexcept { delete heap_ref<Callable>(self); }};

  void take(UniqueFunction& other) noexcept {
    table_ = std::exchange(other.table_, nullptr);
    if (table_ != nullptr) table_->relocate(buffer_, other.buffer_);
  }

  const Table* table_ = nullptr;
  alignas(std::max_align_t) std::byte buffer_[kInlineBytes];
};

}  // namespace tenon::loop
