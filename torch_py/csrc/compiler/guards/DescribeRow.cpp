// Says why a row failed.
#include <utility>

#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/compiler/guards/Distinct.h"
#include "torch_py/csrc/compiler/guards/Lookup.h"
#include "torch_py/csrc/compiler/guards/Rows.h"
#include "torch_py/csrc/compiler/guards/Storages.h"
#include "torch_py/csrc/compiler/guards/TensorFacts.h"
#include "torch_py/csrc/compiler/guards/ThreadState.h"

namespace torch::python::compiler {

namespace {

constexpr size_t kLongest = 80;

std::string utf8(PyObject* text) {
  const char* bytes = PyUnicode_AsUTF8(text);
  if (bytes == nullptr) PyErr_Clear();
  return bytes != nullptr ? bytes : "?";
}

/// repr(object), shortened; its type where that fails or it is a tensor, whose numbers say nothing.
std::string shown(PyObject* object) {
  if (object == nullptr) return "nothing";
  const std::string by_type = std::string("an object of type ") + Py_TYPE(object)->tp_name;
  if (is_tensor(object)) return by_type;

  const ObjectPtr text = ObjectPtr::steal(PyObject_Repr(object));
  if (!text) {
    PyErr_Clear();
    return by_type;
  }
  std::string words = utf8(text.get());
  if (words.size() > kLongest) {
    size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(words[end]) & 0xC0) == 0x80) --end;
    words = words.substr(0, end) + "...";
  }
  return words;
}

std::string changed(const std::string& what, PyObject* before, PyObject* now) {
  const std::string old_text = shown(before);
  const std::string new_text = shown(now);
  if (old_text == new_text) return what + " is another object than it was, " + new_text;
  return what + " was " + old_text + ", is " + new_text;
}

std::string changed_value(const std::string& what, PyObject* before, PyObject* now) {
  if (Py_TYPE(before) == Py_TYPE(now)) return changed(what, before, now);
  const auto typed = [](PyObject* object) {
    return shown(object) + " (" + Py_TYPE(object)->tp_name + ")";
  };
  return what + " was " + typed(before) + ", is " + typed(now);
}

std::string changed_keys(const std::string& what, PyObject* before, PyObject* now) {
  const ObjectPtr keys =
      PyDict_Check(now) ? ObjectPtr::steal(keys_of(now)) : ObjectPtr::borrow(now);
  if (!keys) PyErr_Clear();
  return changed(what + ".keys()", before, keys.get());
}

std::string changed_length(const std::string& what, int64_t before, PyObject* now) {
  const Py_ssize_t length = PyObject_Size(now);
  if (length < 0) PyErr_Clear();
  return "len(" + what + ") was " + std::to_string(before) + ", is " +
         (length < 0 ? "nothing" : std::to_string(length));
}

std::string range_of(const Row& row) {
  if (row.number == INT64_MIN) return "at most " + std::to_string(row.high);
  if (row.high == INT64_MAX) return "at least " + std::to_string(row.number);
  return "between " + std::to_string(row.number) + " and " + std::to_string(row.high);
}

/// What a row that reads adds to the name of the register that it reads.
std::string suffix_of(const Row& row) {
  switch (row.kind) {
    case Kind::Attr: return "." + utf8(row.object);
    case Kind::Item: return "[" + std::to_string(row.number) + "]";
    case Kind::Key: return "[" + shown(row.object) + "]";
    case Kind::Cell: return ".cell_contents";
    case Kind::Type: return ".__class__";
    case Kind::Size: return ".size(" + std::to_string(row.number) + ")";
    default: return "";
  }
}

/// How a register is called in messages: by the rows up to `end` that fill it, or by its number.
std::string name_of(const Rows& program, uint32_t number, size_t end) {
  std::string suffix;
  for (size_t i = end; i-- > 0 && suffix.size() < 10 * kLongest;) {
    const Row& row = program.rows[i];
    if (row.kind > Kind::Global || row.destination != number) continue;
    if (row.kind == Kind::Global) return utf8(program.objects[row.index].get()) + suffix;
    if (row.kind == Kind::Const) return shown(row.object) + suffix;
    if (row.kind == Kind::Call) return shown(row.object) + "()" + suffix;

    suffix = suffix_of(row) + suffix;
    number = row.source;
  }
  return "argument " + std::to_string(number) + suffix;
}

std::string describe_reading(const Rows& program, size_t position) {
  const Row& row = program.rows[position];
  return name_of(program, row.destination, position + 1) + " is no longer there";
}

std::string describe_overlap(const Rows& program, const Row& row, PyObject* const* registers,
                             size_t position) {
  const auto pair = find_overlap(registers, program.registers.data() + row.source, row.destination);
  if (!pair) return "";
  const std::string both =
      name_of(program, pair->first, position) + " and " + name_of(program, pair->second, position);
  return registers[pair->first] == registers[pair->second] ? both + " are the same object"
                                                           : both + " share memory";
}

std::string describe_storage(const Rows& program, const Row& row, PyObject* const* registers,
                             size_t position) {
  const auto found = find_changed_storage(registers, program.registers.data() + row.source,
                                          row.destination, row.object);
  if (!found) return "";
  const std::string name = name_of(program, found->number, position);
  return found->bytes < 0 ? name + " shares its storage with others than before"
                          : "the storage of " + name + " has another size, " +
                                std::to_string(found->bytes) + " bytes";
}

}  // namespace

std::string describe_failure(const Rows& rows, size_t position, PyObject* const* registers) {
  const Row& row = rows.rows[position];
  if (row.kind <= Kind::Global) return describe_reading(rows, position);

  if (row.kind == Kind::Never) return "the program was cleared";

  const std::string text = utf8(rows.texts[position]);
  if (row.kind == Kind::State) return describe_change_of_state(row.word, thread_state());
  if (row.kind == Kind::Relation) return text + " does not hold";
  if (row.kind == Kind::Distinct)
    return text + ": " + describe_overlap(rows, row, registers, position);
  if (row.kind == Kind::Storages)
    return text + ": " + describe_storage(rows, row, registers, position);

  if (row.kind == Kind::Bound) return row.facts->first_difference(row.object, text);

  PyObject* now = registers[row.source];
  switch (row.kind) {
    case Kind::Is: return changed(text, row.object, now);
    case Kind::Equals:
    case Kind::EqualsInt: return changed_value(text, row.object, now);
    case Kind::TypeIs: {
      const char* expected = reinterpret_cast<PyTypeObject*>(row.object)->tp_name;
      return text + " was of type " + expected + ", is of type " + Py_TYPE(now)->tp_name;
    }
    case Kind::Length: return changed_length(text, row.number, now);
    case Kind::Keys: return changed_keys(text, row.object, now);
    case Kind::NoAttr: return text + " now has an attribute " + shown(row.object);
    case Kind::NoKey: return text + " now has a key " + shown(row.object);
    case Kind::Tensor: return row.facts->first_difference(now, text);
    case Kind::Others: return text + " were different objects, some are the same now";
    case Kind::Alias: return text + " were the same object, are different ones";
    case Kind::InRange: return text + " was " + range_of(row) + ", is " + shown(now);
    default: return text;
  }
}

}  // namespace torch::python::compiler
