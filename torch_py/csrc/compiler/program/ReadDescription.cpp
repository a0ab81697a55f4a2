// Programs as Python writes them down.
#include "torch_py/csrc/compiler/program/ReadDescription.h"

#include <string>
#include <string_view>

#include "c10/core/DeviceHooks.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"

namespace torch::python {

using programs::Description;
using programs::Formula;
using programs::FormulaStep;
using programs::Integer;
using programs::Slot;
using programs::SlotFacts;

namespace {

using Kind = FormulaStep::Kind;

// --- Parts of tuples ---

std::string shown(PyObject* object) {
  const ObjectPtr text = ObjectPtr::steal(checked(PyObject_Repr(object)));
  return std::string(to_string_view(text.get()));
}

PyObject* need_sequence(PyObject* object, const char* what) {
  if (!is_sequence(object))
    throw_python(PyExc_TypeError, "Program(): %s must be a list or tuple, got %s", what,
                 type_name(object));
  return object;
}

/// Calls `use` with each element.
template <class Use>
void for_each(PyObject* object, const char* what, Use&& use) {
  need_sequence(object, what);
  for (Py_ssize_t i = 0; i < sequence_length(object); ++i) use(sequence_item(object, i));
}

std::vector<Slot> read_slots(PyObject* object, const char* what) {
  std::vector<Slot> slots;
  for_each(object, what, [&](PyObject* item) { slots.push_back(read_slot(item)); });
  return slots;
}

// --- Formulas ---

FormulaStep read_formula_step(PyObject* object) {
  if (PyLong_Check(object)) return {Kind::Number, to_int64(object)};

  if (PyUnicode_Check(object)) {
    const std::string text(to_string_view(object));
    constexpr std::pair<std::string_view, Kind> operators[] = {
        {"+", Kind::Add},    {"-", Kind::Subtract}, {"*", Kind::Multiply}, {"//", Kind::Divide},
        {"%", Kind::Modulo}, {"max", Kind::Max},    {"min", Kind::Min}};
    for (const auto& [name, kind] : operators) {
      if (text == name) return {kind, 0};
    }
    const bool is_symbol = text.size() >= 2 && text.size() < 10 && text[0] == 's' &&
                           text.find_first_not_of("0123456789", 1) == std::string::npos;
    if (is_symbol) return {Kind::Symbol, std::stoll(text.substr(1))};
  }
  throw_python(PyExc_ValueError,
               "a formula consists of integers, symbols (\"s0\") and the operators + - * // %% max "
               "min, got %R",
               object);
}

Integer read_formula(PyObject* object, Description& description) {
  Formula formula;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i)
    formula.push_back(read_formula_step(PyTuple_GET_ITEM(object, i)));
  return description.formulas.add(std::move(formula), description.symbols.size());
}

// --- Slots ---

using Integers = c10::SmallVector<Integer, 5>;

Integers read_integers(PyObject* object, const char* what, Description& description) {
  Integers integers;
  for_each(object, what,
           [&](PyObject* item) { integers.push_back(read_integer(item, description)); });
  return integers;
}

SlotFacts read_facts(PyObject* object, Description& description) {
  SlotFacts facts;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) {
    facts.is_integer = true;
    return facts;
  }

  const bool fits = is_sequence(object) && sequence_length(object) == 4 &&
                    is_dtype(sequence_item(object, 0)) && is_device(sequence_item(object, 3));
  if (!fits)
    throw_python(PyExc_TypeError,
                 "Program(): a slot is (dtype, sizes, strides, device) or int, got %R", object);

  facts.dtype = to_dtype(sequence_item(object, 0));
  facts.sizes = read_integers(sequence_item(object, 1), "the sizes of a slot", description);
  facts.strides = read_integers(sequence_item(object, 2), "the strides of a slot", description);
  facts.device = c10::resolved(to_device(sequence_item(object, 3)));
  TORCH_CHECK_VALUE(facts.sizes.size() == facts.strides.size(), "a slot has ", facts.sizes.size(),
                    " sizes and ", facts.strides.size(), " strides: ", shown(object));
  return facts;
}

void read_inputs_and_constants(const WrittenProgram& written, Description& description) {
  if (!PyLong_Check(written.inputs))
    throw_python(PyExc_TypeError, "Program(): num_inputs must be an int, got %s",
                 type_name(written.inputs));
  const int64_t inputs = to_int64(written.inputs);
  need_sequence(written.slots, "slots");
  TORCH_CHECK_VALUE(inputs >= 0 && inputs <= sequence_length(written.slots),
                    "Program(): num_inputs is ", inputs, ", but there are ",
                    sequence_length(written.slots), " slots");
  description.inputs = static_cast<size_t>(inputs);

  for_each(written.constants, "constants", [&](PyObject* item) {
    if (!is_tensor(item))
      throw_python(PyExc_TypeError, "Program(): constants must be tensors, got %s",
                   type_name(item));
    description.constants.push_back(unpack(item));
  });
  TORCH_CHECK_VALUE(description.fixed_slots() <=
                        static_cast<size_t>(sequence_length(written.slots)),
                    "Program(): there are more inputs and constants than slots");
}

void read_symbols(PyObject* symbols, PyObject* slots, Description& description) {
  for_each(symbols, "symbols", [&](PyObject* item) {
    const bool is_pair =
        is_sequence(item) && sequence_length(item) == 2 && PyLong_Check(sequence_item(item, 0));
    if (!is_pair)
      throw_python(PyExc_TypeError, "Program(): a symbol is (input, dimension or None), got %R",
                   item);

    const int64_t input = to_int64(sequence_item(item, 0));
    TORCH_CHECK_VALUE(input >= 0 && input < static_cast<int64_t>(description.inputs),
                      "Program(): a symbol names input ", input, ", but there are ",
                      description.inputs);

    PyObject* facts = sequence_item(slots, input);
    PyObject* dimension = sequence_item(item, 1);
    int32_t place = Description::Symbol::kInteger;
    if (dimension != Py_None) {
      const int64_t wanted = to_int64(dimension);
      const bool exists = is_sequence(facts) && sequence_length(facts) == 4 &&
                          is_sequence(sequence_item(facts, 1)) && wanted >= 0 &&
                          wanted < sequence_length(sequence_item(facts, 1));
      TORCH_CHECK_VALUE(exists, "Program(): a symbol is dimension ", wanted, " of input ", input,
                        ", which it does not have");
      place = static_cast<int32_t>(wanted);
    } else {
      TORCH_CHECK_VALUE(facts == reinterpret_cast<PyObject*>(&PyLong_Type),
                        "Program(): a symbol is input ", input, ", which is not an int");
    }
    description.symbols.push_back({static_cast<Slot>(input), place});
  });
}

void read_library(PyObject* library, Description& description) {
  if (library == Py_None) return;
  const ObjectPtr path = ObjectPtr::steal(checked(PyOS_FSPath(library)));
  if (!PyUnicode_Check(path.get()))
    throw_python(PyExc_TypeError, "Program(): library must be a path or None, got %R", library);
  description.library =
      std::make_shared<programs::Library>(std::string(to_string_view(path.get())));
}

// --- Steps ---

/// The parts of a step after its name, of which there are `least` to `most`.
void check_length(PyObject* step, Py_ssize_t least, Py_ssize_t most) {
  const Py_ssize_t count = PyTuple_GET_SIZE(step) - 1;
  TORCH_CHECK_VALUE(count >= least && count <= most, "expected ", least,
                    least == most ? "" : c10::str(" to ", most), " parts, got ", count);
}

PyObject* part(PyObject* step, Py_ssize_t i) { return PyTuple_GET_ITEM(step, i + 1); }

Integer optional_part(PyObject* step, Py_ssize_t i, int64_t otherwise, Description& description) {
  const bool is_given = PyTuple_GET_SIZE(step) > i + 1;
  return is_given ? read_integer(part(step, i), description) : Integer{otherwise, false};
}

programs::CallKernel read_kernel(PyObject* step, Description& description) {
  check_length(step, 4, 6);
  programs::CallKernel call;
  if (!PyUnicode_Check(part(step, 0)))
    throw_python(PyExc_TypeError, "the name of a kernel must be a str, got %R", part(step, 0));
  call.name = to_string_view(part(step, 0));
  TORCH_CHECK_VALUE(description.library != nullptr, "kernel '", call.name,
                    "' is used, but the program has no library");
  call.kernel = description.library->kernel(call.name);

  call.slots = read_slots(part(step, 1), "the slots of a kernel");
  call.extent = read_integer(part(step, 2), description);
  call.grain = read_integer(part(step, 3), description);
  if (PyTuple_GET_SIZE(step) > 5) {
    for (const Integer& size : read_integers(part(step, 4), "the sizes of a kernel", description))
      call.sizes.push_back(size);
  }
  if (PyTuple_GET_SIZE(step) > 6) call.written = read_slots(part(step, 5), "the written slots");
  return call;
}

/// A step, unless it is the size of the arena.
void read_step(PyObject* step, Description& description) {
  const bool has_name = PyTuple_Check(step) && PyTuple_GET_SIZE(step) > 0 &&
                        PyUnicode_Check(PyTuple_GET_ITEM(step, 0));
  if (!has_name)
    throw_python(PyExc_TypeError, "a step is a tuple that begins with its name, got %R", step);
  const std::string name(to_string_view(PyTuple_GET_ITEM(step, 0)));

  if (name == "arena_size") {
    check_length(step, 1, 1);
    TORCH_CHECK_VALUE(description.steps.empty() && description.first_step == 0,
                      "arena_size must be the first step");
    description.arena_bytes = read_integer(part(step, 0), description);
    ++description.first_step;
  } else if (name == "allocate") {
    check_length(step, 1, 1);
    description.steps.emplace_back(programs::Allocate{read_slot(part(step, 0))});
  } else if (name == "arena") {
    check_length(step, 2, 2);
    description.steps.emplace_back(
        programs::Place{read_slot(part(step, 0)), read_integer(part(step, 1), description)});
  } else if (name == "view") {
    check_length(step, 2, 3);
    description.steps.emplace_back(programs::View{read_slot(part(step, 0)),
                                                  read_slot(part(step, 1)),
                                                  optional_part(step, 2, 0, description)});
  } else if (name == "kernel") {
    description.steps.emplace_back(read_kernel(step, description));
  } else if (name == "extern") {
    check_length(step, 4, 4);
    description.steps.emplace_back(read_extern(step, description));
  } else if (name == "drop") {
    check_length(step, 1, 1);
    description.steps.emplace_back(programs::Drop{read_slot(part(step, 0))});
  } else {
    TORCH_THROW(ValueError, "unknown step '", name,
                "'; there are arena_size, allocate, arena, view, kernel, extern and drop");
  }
}

programs::Output read_output(PyObject* object, Description& description) {
  using Kind = programs::Output::Kind;
  if (object == Py_None) return {};
  if (PyTuple_Check(object)) return {Kind::Integer, 0, read_formula(object, description)};
  return {Kind::Tensor, read_slot(object), {}};
}

}  // namespace

bool is_formula(PyObject* object) {
  if (!PyTuple_Check(object)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
    if (PyUnicode_Check(PyTuple_GET_ITEM(object, i))) return true;
  }
  return false;
}

Integer read_integer(PyObject* object, Description& description) {
  if (is_formula(object)) return read_formula(object, description);
  if (!PyLong_Check(object) || PyBool_Check(object))
    throw_python(PyExc_TypeError, "expected an int or a formula, got %R", object);
  return {to_int64(object), false};
}

Slot read_slot(PyObject* object) {
  if (!PyLong_Check(object) || PyBool_Check(object))
    throw_python(PyExc_TypeError, "expected the number of a slot, got %R", object);
  const int64_t number = to_int64(object);
  TORCH_CHECK_VALUE(number >= 0 && number <= INT32_MAX, "there is no slot ", number);
  return static_cast<Slot>(number);
}

Description read_description(const WrittenProgram& written) {
  Description description;
  read_inputs_and_constants(written, description);
  read_symbols(written.symbols, written.slots, description);

  for_each(written.slots, "slots", [&](PyObject* item) {
    description.slots.push_back(read_facts(item, description));
    const bool is_input = description.slots.size() <= description.inputs;
    TORCH_CHECK_VALUE(is_input || !description.slots.back().is_integer, "Program(): slot ",
                      description.slots.size() - 1, " is an int, which only inputs are");
  });

  if (written.name != nullptr) {
    if (!PyUnicode_Check(written.name))
      throw_python(PyExc_TypeError, "Program(): name must be a str, got %R", written.name);
    description.name = to_string_view(written.name);
  }
  for_each(written.names, "names", [&](PyObject* item) {
    if (!PyUnicode_Check(item))
      throw_python(PyExc_TypeError, "Program(): names must be str, got %R", item);
    description.names.emplace_back(to_string_view(item));
  });
  TORCH_CHECK_VALUE(description.names.empty() ||
                        description.names.size() == description.slots.size(),
                    "Program(): there are ", description.slots.size(), " slots and ",
                    description.names.size(), " names");

  read_library(written.library, description);

  Py_ssize_t position = 0;
  for_each(written.steps, "steps", [&](PyObject* step) {
    try {
      read_step(step, description);
    } catch (const c10::Error& error) {
      TORCH_THROW(ValueError, "Program(): step ", position, " ", shown(step), ": ",
                  error.message());
    }
    ++position;
  });

  for_each(written.outputs, "outputs",
           [&](PyObject* item) { description.outputs.push_back(read_output(item, description)); });
  return description;
}

}  // namespace torch::python
