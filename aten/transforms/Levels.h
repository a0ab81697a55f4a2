// The function transforms that a thread runs, and the tensors that they wrap.
#pragma once
#include <atomic>
#include <cstdint>
#include <limits>

#include "aten/core/Tensor.h"

namespace at::transforms {

/// Note [Levels]
/// A running transform (vmap, jvp, grad) has a level, one above that of the transform around it. It
/// wraps its arguments in tensors of that level; what these hold may be wrapped at lower levels. A
/// call goes to the highest level among its arguments. There it becomes calls with what is inside,
/// which go to a lower level, and in the end to plain tensors, whose calls autograd records. The
/// wrapper itself has the geometry that the function under transform is to see, and no memory.

/// Whose numbers the members of a batch get from a random operator.
enum class Randomness : uint8_t { Error, Different, Same };

struct Level {
  int64_t batch_size = -1;  // -1: not of vmap
  Randomness randomness = Randomness::Error;

  bool is_batch() const { return batch_size >= 0; }
};

/// Begins a level of the calling thread and returns its number; the first is 1.
TORCH_PY_API int begin_level(const Level& level);
/// Ends the level begun last.
TORCH_PY_API void end_level();
/// The number of the level begun last; 0 outside of all.
TORCH_PY_API int current_level();
/// Levels that run on all threads: while it is 0, current_level() need not be asked.
TORCH_PY_API extern std::atomic<int> running_level_count;
TORCH_PY_API const Level& level_at(int number);

/// The highest batch that a call without tensors of it may still belong to: between `above`
/// (excluded) and the levels that the rules around the call have dealt with; else 0.
TORCH_PY_API int innermost_batch(int above);

/// Held by the rule of a level while it makes calls: these belong to lower levels.
class TORCH_PY_API BelowLevel {
 public:
  explicit BelowLevel(int level);
  ~BelowLevel();
  BelowLevel(const BelowLevel&) = delete;
  BelowLevel& operator=(const BelowLevel&) = delete;

 private:
  int previous_;
};

/// The body of a tensor that a transform has wrapped.
class TORCH_PY_API Wrapped final : public TensorImpl {
 public:
  /// Batch: `value` has the members in its first dimension. Dual: a value with a tangent, which is
  /// undefined for zero.
  enum class Kind : uint8_t { Batch, Dual };

  Wrapped(Kind kind, int level, Tensor value, Tensor tangent = {});

  Kind kind() const { return kind_; }
  int level() const { return level_; }
  int64_t batch_size() const { return value_.sizes()[0]; }
  const Tensor& value() const { return value_; }
  const Tensor& tangent() const { return tangent_; }
  /// Replaces what is inside; the geometry follows.
  void set_value(Tensor value);
  void set_tangent(Tensor tangent);
  /// To be called where the value may have begun to require grad.
  void refresh_autograd_key();

  intrusive_ptr<TensorImpl> shallow_copy() const override;
  void shallow_copy_from(const TensorImpl& other) override;

 protected:
  void release_resources() override;

 private:
  Kind kind_;
  int level_;
  Tensor value_;
  Tensor tangent_;
};

TORCH_PY_API Tensor wrap_batch(Tensor value, int level);
TORCH_PY_API Tensor wrap_dual(Tensor value, Tensor tangent, int level);

/// The wrapper, null for other tensors.
inline Wrapped* as_wrapped(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.key_set().has(DispatchKey::Transform)) return nullptr;
  return static_cast<Wrapped*>(tensor.unsafe_impl());
}

/// The level of a tensor; 0 if it is not wrapped.
inline int level_of(const Tensor& tensor) {
  const Wrapped* wrapped = as_wrapped(tensor);
  return wrapped == nullptr ? 0 : wrapped->level();
}

}  // namespace at::transforms
