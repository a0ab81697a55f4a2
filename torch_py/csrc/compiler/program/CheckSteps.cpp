// What is checked once about the steps of a program.
#include <algorithm>

#include "c10/util/Exception.h"
#include "torch_py/csrc/compiler/program/Steps.h"

namespace torch::programs {

namespace {

enum class State : uint8_t { Absent, Defined, Dropped };
enum class Memory : uint8_t { Given, Constant, Arena, Own };  // who owns that of a slot

class Checker {
 public:
  explicit Checker(const Description& description)
      : description_(description),
        states_(description.slots.size(), State::Absent),
        memory_(description.slots.size(), Memory::Own) {
    for (size_t i = 0; i < description.fixed_slots(); ++i) {
      states_[i] = State::Defined;
      memory_[i] = i < description.inputs ? Memory::Given : Memory::Constant;
    }
  }

  void check() {
    for (step_ = 0; step_ < description_.steps.size(); ++step_)
      std::visit(*this, description_.steps[step_]);
    for (const Output& output : description_.outputs) {
      if (output.is_tensor()) check_output(output.slot);
    }
  }

  void operator()(const Allocate& step) { define(step.slot); }

  void operator()(const Place& step) {
    define(step.slot);
    need_host_memory(step.slot, "is in the arena");
    memory_[step.slot] = Memory::Arena;
  }

  void operator()(const View& step) {
    use(step.of);
    define(step.slot);
    memory_[step.slot] = memory_[step.of];
    const bool same_device =
        description_.slots[step.slot].device == description_.slots[step.of].device;
    TORCH_CHECK_VALUE(same_device, at(), "a view is on the device of what it views");
  }

  void operator()(const CallKernel& step) {
    for (const Slot slot : step.slots) {
      use(slot);
      need_host_memory(slot, "is an argument of a kernel");
    }
    for (const Slot slot : step.written) {
      const bool is_argument =
          std::find(step.slots.begin(), step.slots.end(), slot) != step.slots.end();
      TORCH_CHECK_VALUE(is_argument, at(), "slot ", slot, " is written but not an argument");
      TORCH_CHECK_VALUE(memory_[slot] != Memory::Constant, at(), "slot ", slot,
                        " is a constant and must not be written");
    }
  }

  void operator()(const CallExtern& step) {
    for (const CallExtern::TensorArgument& argument : step.tensors) {
      use(argument.slot);
      TORCH_CHECK_VALUE(memory_[argument.slot] != Memory::Constant || !writes(step, argument), at(),
                        "slot ", argument.slot, " is a constant and must not be written");
    }
    for (const CallExtern::TensorArgument& result : step.results) define(result.slot);
  }

  void operator()(const Drop& step) {
    use(step.slot);
    states_[step.slot] = State::Dropped;
  }

 private:
  std::string at() const { return description_.at(step_); }

  void use(Slot slot) {
    TORCH_CHECK_VALUE(slot < states_.size(), at(), "there is no slot ", slot);
    TORCH_CHECK_VALUE(states_[slot] != State::Absent, at(), "slot ", slot,
                      " is used before it is made");
    TORCH_CHECK_VALUE(states_[slot] != State::Dropped, at(), "slot ", slot,
                      " is used after it was dropped");
    TORCH_CHECK_VALUE(!description_.slots[slot].is_integer, at(), "slot ", slot,
                      " is an integer; name its symbol instead");
  }

  void define(Slot slot) {
    TORCH_CHECK_VALUE(slot < states_.size(), at(), "there is no slot ", slot);
    TORCH_CHECK_VALUE(states_[slot] == State::Absent, at(), "slot ", slot, " is made twice");
    TORCH_CHECK_VALUE(!description_.slots[slot].is_integer, at(), "slot ", slot,
                      " is an integer, which only inputs are");
    states_[slot] = State::Defined;
  }

  static bool writes(const CallExtern& step, const CallExtern::TensorArgument& argument) {
    return step.entry != nullptr &&
           step.entry->schema().arguments[argument.spot.position].is_written;
  }

  void need_host_memory(Slot slot, const char* what) {
    const at::Device device = description_.slots[slot].device;
    TORCH_CHECK_VALUE(device.is_cpu(), at(), "slot ", slot, " ", what,
                      " and must be on the CPU, not on ", device.str());
  }

  void check_output(Slot slot) {
    TORCH_CHECK_VALUE(slot < states_.size() && states_[slot] == State::Defined &&
                          !description_.slots[slot].is_integer,
                      "output slot ", slot, " does not hold a tensor at the end");
    TORCH_CHECK_VALUE(memory_[slot] != Memory::Arena, "output slot ", slot,
                      " is in the arena; allocate it");
    TORCH_CHECK_VALUE(memory_[slot] != Memory::Constant, "output slot ", slot,
                      " is a constant, which callers could change; return a copy");
  }

  const Description& description_;
  std::vector<State> states_;
  std::vector<Memory> memory_;
  size_t step_ = 0;
};

}  // namespace

std::string Description::at(size_t step) const {
  return c10::str("step ", first_step + step, ": ");
}

void check_description(const Description& description) { Checker(description).check(); }

}  // namespace torch::programs
