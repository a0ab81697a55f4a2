// One call of a program.
#pragma once
#include "torch_py/csrc/compiler/program/Program.h"

namespace torch::programs {

/// What one call needs, and its steps. See Note [Running programs].
class Run {
 public:
  Run(const Program& program, const Plan& plan, const Arguments& arguments);

  void steps();
  Items results();

  // One step each.
  void operator()(const Allocate& step);
  void operator()(const Place& step);
  void operator()(const View& step);
  void operator()(const CallKernel& step);
  void operator()(const CallExtern& step);
  void operator()(const Drop& step);

 private:
  void give(Slot slot, const at::Tensor& tensor);
  void release_arguments(size_t step);
  void take(Slot slot, at::Tensor tensor);
  at::Tensor view_of(const View& step) const;
  void check_within_memory(const View& step) const;
  void push_arguments(const CallExtern& step);
  void take_results(const CallExtern& step);
  void take_result(const CallExtern& step, const CallExtern::TensorArgument& result);

  const Program& program_;
  const Plan& plan_;
  const Arguments& arguments_;
  const StepNumbers* numbers_ = nullptr;  // of the step that runs
  bool owns_arguments_ = false;           // some of them

  c10::SmallVector<void*, 64> data_;          // by slot: its first element
  c10::SmallVector<at::Tensor, 64> tensors_;  // by slot: undefined for those that nobody sees
  at::Storage arena_;
  c10::SmallVector<void*, 32> kernel_arguments_;
  at::Stack stack_;  // of the calls of operators, which reuse its memory
};

}  // namespace torch::programs
