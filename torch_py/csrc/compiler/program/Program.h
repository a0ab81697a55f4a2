// Programs: compiled graphs, run step by step without Python.
#pragma once
#include <mutex>

#include "c10/util/Exception.h"
#include "torch_py/csrc/compiler/program/Plan.h"

namespace torch::programs {

/// An argument of a program: a tensor, which must outlive the call, or an integer.
struct Argument {
  const at::Tensor* tensor = nullptr;
  int64_t integer = 0;
  at::Tensor* owned = nullptr;  // the tensor, if the program is to release it after its last use
};
using Arguments = c10::SmallVector<Argument, 16>;

/// A result of a program: a tensor, undefined for None, or an integer.
struct Item {
  at::Tensor tensor;
  int64_t integer = 0;
  bool is_integer = false;
};
using Items = c10::SmallVector<Item, 8>;

/// The result of an operator is not as the program was made for: the compiler has predicted a wrong
/// size. A PredictionError in Python.
class PredictionError final : public c10::Error {
 public:
  using Error::Error;
};

/// A compiled graph.
///
/// Note [Running programs]
/// A program is never changed by a call, so any number of threads may call it at once, and it may
/// call itself through an operator that is written in Python. What a call needs lives in the call:
/// a table of pointers, the tensors that operators and callers see, and one block of memory, the
/// arena, that the slots which nobody else sees share. Blocks come from the allocator, which keeps
/// those of the last call at hand; what is free between calls is free for everybody.
///
/// Memory of the arena must not leave the call. A result of an operator that shares it (reshape,
/// contiguous) is copied.
class Program {
 public:
  /// Throws ValueError for wrong steps.
  explicit Program(Description description);

  /// The numbers for these arguments, which are checked: an Error names the one that is not as the
  /// program was made for. The plan lives as long as `Prepared` does.
  struct Prepared {
    const Plan* plan;
    std::shared_ptr<const Plan> owner;  // null if the program has only one plan
  };
  Prepared prepare(const Arguments& arguments) const;
  /// Runs the steps. Touches no Python object.
  Items run(const Prepared& prepared, const Arguments& arguments) const;

  const Description& description() const { return description_; }

 private:
  std::shared_ptr<const Plan> plan_for(std::vector<int64_t> symbols) const;
  std::vector<int64_t> symbols_of(const Arguments& arguments) const;
  void check_arguments(const Plan& plan, const Arguments& arguments) const;
  void find_visible_slots();
  void find_last_uses();
  bool is_output(Slot slot) const;

  /// An input, or a view of it, that a step is the last to use.
  struct LastUse {
    Slot input;
    Slot slot;
  };

  Description description_;
  std::shared_ptr<const Plan> only_plan_;  // of a program without symbols
  std::vector<bool> is_visible_;           // by slot: operators or callers see it as a tensor
  std::vector<bool> views_argument_;       // by slot: it is a view of an input
  // By step: the inputs that no later step needs, each with its views; callers need none of these.
  std::vector<std::vector<LastUse>> last_uses_;

  // Plans of the sizes used last, the last one first.
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Plan>> plans_;

  friend class Run;
};

}  // namespace torch::programs
