// The steps of a program.
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "aten/core/Value.h"
#include "c10/dispatch/OperatorEntry.h"
#include "torch_py/csrc/compiler/program/Facts.h"
#include "torch_py/csrc/compiler/program/Library.h"

namespace torch::programs {

using Slot = uint32_t;

/// New memory for a slot.
struct Allocate {
  Slot slot;
};

/// Places a slot in the program's arena.
struct Place {
  Slot slot;
  Integer offset;  // in bytes, a multiple of kArenaAlignment
};

/// Makes a slot a view of the memory of another one.
struct View {
  Slot slot;
  Slot of;
  Integer offset;  // from the first element of `of`, in elements of `slot`
};

/// Runs a compiled kernel, on several threads if there is enough to do.
struct CallKernel {
  std::string name;
  Kernel kernel = nullptr;
  std::vector<Slot> slots;
  std::vector<Slot> written;  // those of them that it writes to
  Integer extent;
  Integer grain;
  std::vector<Integer> sizes;
};

/// What a program calls besides operators of the dispatcher, such as an operator written in Python.
/// The bindings subclass it.
class Function {
 public:
  virtual ~Function() = default;
  virtual const char* name() const = 0;
  /// Takes the tensors and integers of its arguments off the stack, in their order, and leaves the
  /// tensors of its results.
  virtual void call(at::Stack& stack) const = 0;
};

/// Calls an operator or a function.
struct CallExtern {
  /// Where something belongs among the arguments or the results of the call.
  struct Spot {
    static constexpr int32_t kWhole = -1;

    uint32_t position;
    int32_t element;  // of a list; kWhole for any other value
  };
  struct TensorArgument {
    Spot spot;
    Slot slot;
  };
  struct IntegerArgument {
    Spot spot;
    Integer value;
  };

  const char* name() const { return entry != nullptr ? entry->name() : function->name(); }

  const c10::OperatorEntry* entry = nullptr;  // null for a function
  std::shared_ptr<const Function> function;
  at::Stack arguments;  // all that is the same in every call
  std::vector<TensorArgument> tensors;
  std::vector<IntegerArgument> integers;
  std::vector<TensorArgument> results;  // empty: they are dropped
};

/// Gives up a slot, and its memory unless others use it.
struct Drop {
  Slot slot;
};

using Step = std::variant<Allocate, Place, View, CallKernel, CallExtern, Drop>;

/// Where slots may begin in the arena: at cache lines.
inline constexpr int64_t kArenaAlignment = 64;

/// What a program returns.
struct Output {
  enum class Kind : uint8_t { Tensor, Integer, None };

  Kind kind = Kind::None;
  Slot slot = 0;    // of a tensor
  Integer integer;  // of an integer

  bool is_tensor() const { return kind == Kind::Tensor; }
};

/// All that a program is made of. Slots are numbered: inputs, constants, then the others.
struct Description {
  /// What a symbol stands for: the size of an input, or the input itself.
  struct Symbol {
    static constexpr int32_t kInteger = -1;

    Slot input;
    int32_t dimension;  // kInteger for an integer input
  };

  size_t inputs = 0;
  std::vector<at::Tensor> constants;
  std::vector<SlotFacts> slots;
  std::vector<Symbol> symbols;
  Formulas formulas;
  Integer arena_bytes;
  std::vector<Step> steps;
  size_t first_step = 0;  // its number for the caller, who also counts the size of the arena
  std::vector<Output> outputs;
  std::shared_ptr<const Library> library;
  std::vector<std::shared_ptr<void>> kept;  // owners of what arguments point to: generators
  std::vector<std::string> names;           // of slots, for people; may be empty
  std::string name = "program";             // of the whole, for people and profiles

  size_t fixed_slots() const { return inputs + constants.size(); }
  /// "step 3: ", as messages about a step begin.
  std::string at(size_t step) const;
  /// The steps as people read them.
  std::string text() const;
};

/// Checks what does not depend on sizes: slots are defined once, before they are used, and not used
/// after they are dropped; kernels get memory of the CPU; outputs own their memory. ValueError that
/// names the step.
void check_description(const Description& description);

}  // namespace torch::programs
