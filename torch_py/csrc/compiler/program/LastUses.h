// When the slots of a program are used last.
#pragma once
#include "torch_py/csrc/compiler/program/Steps.h"

namespace torch::programs {

/// The last step that uses each slot, directly or through a view.
class LastUses {
 public:
  static constexpr size_t kNever = SIZE_MAX;

  explicit LastUses(const Description& description)
      : last_(description.slots.size(), kNever), roots_(description.slots.size()) {
    for (Slot slot = 0; slot < roots_.size(); ++slot) roots_[slot] = slot;
    for (step_ = 0; step_ < description.steps.size(); ++step_)
      std::visit(*this, description.steps[step_]);
  }

  /// kNever for a slot that no step uses; of a view, that of what it views.
  size_t of(Slot slot) const { return last_[roots_[slot]]; }
  /// What a view is a view of in the end; any other slot itself.
  Slot root(Slot slot) const { return roots_[slot]; }

  void operator()(const Allocate&) {}
  void operator()(const Drop&) {}
  void operator()(const Place& step) { use(step.slot); }
  void operator()(const View& step) {
    roots_[step.slot] = roots_[step.of];
    use(step.of);
  }
  void operator()(const CallKernel& step) {
    for (const Slot slot : step.slots) use(slot);
  }
  void operator()(const CallExtern& step) {
    for (const CallExtern::TensorArgument& argument : step.tensors) use(argument.slot);
  }

 private:
  void use(Slot slot) { last_[roots_[slot]] = step_; }

  std::vector<size_t> last_;
  std::vector<Slot> roots_;  // what views are views of
  size_t step_ = 0;
};

}  // namespace torch::programs
