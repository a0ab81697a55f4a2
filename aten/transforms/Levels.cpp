// The levels of each thread, and wrappers.
#include "aten/transforms/Levels.h"

#include <utility>
#include <vector>

#include "c10/dispatch/LocalState.h"
#include "c10/util/Exception.h"

namespace at::transforms {

namespace {

thread_local std::vector<Level> running;
// Levels above it have dealt with the calls that are made now.
thread_local int highest_open = std::numeric_limits<int>::max();

/// Operators without tensors of a batch are seen while one runs: they may be random.
void include_key() {
  bool any_batch = false;
  for (const Level& level : running) any_batch = any_batch || level.is_batch();
  DispatchKeySet& included = local_state().included;
  included = any_batch ? included | DispatchKey::Transform : included - DispatchKey::Transform;
}

}  // namespace

std::atomic<int> running_level_count{0};

int begin_level(const Level& level) {
  running.push_back(level);
  running_level_count.fetch_add(1, std::memory_order_relaxed);
  include_key();
  return current_level();
}

void end_level() {
  TORCH_CHECK(!running.empty(), "no transform is running");
  running.pop_back();
  running_level_count.fetch_sub(1, std::memory_order_relaxed);
  include_key();
}

int current_level() { return static_cast<int>(running.size()); }

const Level& level_at(int number) { return running[static_cast<size_t>(number - 1)]; }

int innermost_batch(int above) {
  for (int number = std::min(current_level(), highest_open); number > above; --number) {
    if (level_at(number).is_batch()) return number;
  }
  return 0;
}

BelowLevel::BelowLevel(int level) : previous_(std::exchange(highest_open, level - 1)) {}
BelowLevel::~BelowLevel() { highest_open = previous_; }

// --- Wrappers ---

Wrapped::Wrapped(Kind kind, int level, Tensor value, Tensor tangent)
    : TensorImpl(Storage(), value.scalar_type(), value.device(),
                 DispatchKeySet(DispatchKey::Transform)),
      kind_(kind),
      level_(level),
      tangent_(std::move(tangent)) {
  set_value(std::move(value));
}

// Composites ask whether they are differentiated. The key only answers them: calls go to Transform.
void Wrapped::refresh_autograd_key() {
  set_autograd_key(value_.requires_grad() || tangent_.defined());
}

void Wrapped::set_tangent(Tensor tangent) {
  tangent_ = std::move(tangent);
  refresh_autograd_key();
}

void Wrapped::set_value(Tensor value) {
  value_ = std::move(value);
  set_dtype(value_.scalar_type());
  const size_t first = kind_ == Kind::Batch ? 1 : 0;
  set_sizes_and_strides(value_.sizes().slice(first), value_.strides().slice(first),
                        value_.storage_offset());
  refresh_autograd_key();
}

intrusive_ptr<TensorImpl> Wrapped::shallow_copy() const {
  return make_intrusive<Wrapped>(kind_, level_, value_, tangent_);
}

void Wrapped::shallow_copy_from(const TensorImpl& other) {
  const auto* wrapped = dynamic_cast<const Wrapped*>(&other);
  TORCH_CHECK(wrapped != nullptr && wrapped->level_ == level_ && wrapped->kind_ == kind_,
              "a tensor inside of a function transform can only take over the data of another one "
              "of the same transform");
  set_tangent(wrapped->tangent_);
  set_value(wrapped->value_);
}

void Wrapped::release_resources() {
  value_.reset();
  tangent_.reset();
  TensorImpl::release_resources();
}

Tensor wrap_batch(Tensor value, int level) {
  return Tensor(make_intrusive<Wrapped>(Wrapped::Kind::Batch, level, std::move(value)));
}

Tensor wrap_dual(Tensor value, Tensor tangent, int level) {
  if (tangent.defined()) {
    TORCH_CHECK(tangent.sizes() == value.sizes(),
                "Expected tangent and primal to have the same shape, got a tangent of ",
                tangent.sizes(), " and a primal of ", value.sizes());
  }
  return Tensor(
      make_intrusive<Wrapped>(Wrapped::Kind::Dual, level, std::move(value), std::move(tangent)));
}

}  // namespace at::transforms
