// Makes rows of Python tuples, and refuses what is not a program.
#include <algorithm>
#include <string_view>

#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/compiler/guards/Rows.h"
#include "torch_py/csrc/compiler/guards/TensorFacts.h"

namespace torch::python::compiler {

namespace {

/// The operands of a kind of row, one letter each, in order:
/// d register to fill    s register             a second register   R tuple of registers
/// o object              h hashable object      n name              i int >= 0
/// l lower bound or None u upper bound or None  K tuple of keys     T type
/// D dict                F TensorFacts          E size relation     w word of thread state
/// B tensor              P tuple of two ints for each register
/// W tuple of watched objects, then rows        t text for messages
struct Form {
  std::string_view word;
  Kind kind;
  std::string_view operands;
};
constexpr Form kForms[] = {
    {"const", Kind::Const, "do"},        {"attr", Kind::Attr, "dsn"},
    {"item", Kind::Item, "dsi"},         {"key", Kind::Key, "dsh"},
    {"cell", Kind::Cell, "ds"},          {"type", Kind::Type, "ds"},
    {"size", Kind::Size, "dsi"},         {"call", Kind::Call, "do"},
    {"global", Kind::Global, "dDn"},     {"is", Kind::Is, "sot"},
    {"type_is", Kind::TypeIs, "sTt"},    {"equals", Kind::Equals, "sot"},
    {"length", Kind::Length, "sit"},     {"keys", Kind::Keys, "sKt"},
    {"no_attr", Kind::NoAttr, "snt"},    {"no_key", Kind::NoKey, "sht"},
    {"tensor", Kind::Tensor, "sFt"},     {"bound", Kind::Bound, "BFt"},
    {"distinct", Kind::Distinct, "Rt"},  {"others", Kind::Others, "Rt"},
    {"storages", Kind::Storages, "RPt"}, {"alias", Kind::Alias, "sat"},
    {"in_range", Kind::InRange, "slut"}, {"size_relation", Kind::Relation, "Et"},
    {"state", Kind::State, "wt"},        {"watched", Kind::Watched, "Wt"},
};
constexpr int kMaxNesting = 16;
constexpr Py_ssize_t kMaxRegisters = 1 << 20;

enum class Use : uint8_t { Unused, Input, Filled, FilledSometimes };

class Parser {
 public:
  explicit Parser(Py_ssize_t registers) : uses_(static_cast<size_t>(registers), Use::Unused) {
    program_.register_count = static_cast<uint32_t>(registers);
  }

  void parse_all(PyObject* rows, int nesting);
  Rows finish();

 private:
  void parse_row(PyObject* tuple, int nesting);
  void parse_operand(char letter, PyObject* operand, Row& row);
  void parse_register_operand(char letter, PyObject* operand, Row& row);
  void parse_number_operand(char letter, PyObject* operand, Row& row);
  void parse_object_operand(char letter, PyObject* operand, Row& row);
  void parse_numbers(PyObject* operand, Row& row);
  void parse_relation(PyObject* operand, Row& row);
  void parse_watched(PyObject* tuple, int nesting);

  const Form& form_of(PyObject* tuple) const;
  uint32_t read_register(PyObject* operand);
  uint32_t fill_register(PyObject* operand);
  uint32_t register_number(PyObject* operand) const;
  int64_t number(PyObject* operand) const;
  void expect(bool condition, PyObject* operand, const char* what) const;
  [[noreturn]] void refuse(const char* why) const;
  PyObject* keep(PyObject* object);

  Rows program_;
  std::vector<Use> uses_;
  const char* word_ = "";  // of the row being parsed
};

void Parser::refuse(const char* why) const {
  throw_python(PyExc_ValueError, "GuardProgram: row %zu ('%s'): %s", program_.rows.size(), word_,
               why);
}

void Parser::expect(bool condition, PyObject* operand, const char* what) const {
  if (condition) return;
  throw_python(PyExc_TypeError, "GuardProgram: row %zu ('%s'): expected %s, got %s",
               program_.rows.size(), word_, what, type_name(operand));
}

PyObject* Parser::keep(PyObject* object) {
  program_.objects.push_back(ObjectPtr::borrow(object));
  return object;
}

int64_t Parser::number(PyObject* operand) const {
  expect(PyLong_CheckExact(operand), operand, "an int");
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(operand, &overflow);
  if (overflow != 0) refuse("an int has more than 64 bits");
  return value;
}

// --- Registers ---

uint32_t Parser::register_number(PyObject* operand) const {
  const int64_t value = number(operand);
  if (value < 0 || value >= static_cast<int64_t>(uses_.size())) {
    throw_python(PyExc_ValueError,
                 "GuardProgram: row %zu ('%s'): register %lld of a program with %zu registers",
                 program_.rows.size(), word_, static_cast<long long>(value), uses_.size());
  }
  return static_cast<uint32_t>(value);
}

uint32_t Parser::read_register(PyObject* operand) {
  const uint32_t found = register_number(operand);
  Use& use = uses_[found];
  if (use == Use::FilledSometimes) refuse("it reads a register that is filled only after a change");
  if (use == Use::Unused) use = Use::Input;
  if (use == Use::Input) program_.input_count = std::max(program_.input_count, found + 1);
  return found;
}

uint32_t Parser::fill_register(PyObject* operand) {
  const uint32_t found = register_number(operand);
  if (uses_[found] == Use::Input) refuse("it fills a register that holds an argument");
  if (uses_[found] == Use::Filled) refuse("it fills a register that is filled already");
  uses_[found] = Use::Filled;
  ++program_.result_count;
  return found;
}

// --- Operands ---

void Parser::parse_register_operand(char letter, PyObject* operand, Row& row) {
  if (letter == 's') row.source = read_register(operand);
  if (letter == 'a') row.destination = read_register(operand);
  if (letter != 'R') return;

  expect(PyTuple_Check(operand), operand, "a tuple of registers");
  row.source = static_cast<uint32_t>(program_.registers.size());
  row.destination = static_cast<uint32_t>(PyTuple_GET_SIZE(operand));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(operand); ++i)
    program_.registers.push_back(read_register(PyTuple_GET_ITEM(operand, i)));
}

void Parser::parse_number_operand(char letter, PyObject* operand, Row& row) {
  if (letter == 'l') row.number = operand == Py_None ? INT64_MIN : number(operand);
  if (letter == 'u') row.high = operand == Py_None ? INT64_MAX : number(operand);
  if (letter == 'i') {
    row.number = number(operand);
    if (row.number < 0) refuse("expected a number that is not negative");
  }
  if (letter == 'w') {
    expect(PyLong_CheckExact(operand), operand, "an int");
    row.word = PyLong_AsUnsignedLongLong(operand);
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      refuse("expected what thread_state() returns");
    }
  }
}

void Parser::parse_object_operand(char letter, PyObject* operand, Row& row) {
  if (letter == 'B') expect(is_tensor(operand), operand, "a Tensor");
  if (letter == 'T') expect(PyType_Check(operand), operand, "a type");
  if (letter == 'D') expect(PyDict_Check(operand), operand, "a dict");
  if (letter == 'K') expect(PyTuple_Check(operand), operand, "a tuple of keys");
  if (letter == 'F') expect(is_tensor_facts(operand), operand, "TensorFacts");
  if (letter == 'n') expect(PyUnicode_CheckExact(operand), operand, "a name");
  if (letter == 'h' && PyObject_Hash(operand) == -1) throw PythonError();

  if (letter == 'F') {
    row.facts = &facts_of(operand);
  } else if (letter == 'n' && row.object != nullptr) {  // a global: the dict comes first
    row.index = program_.objects.size();
  } else {
    row.object = operand;
  }
  keep(operand);
}

void Parser::parse_numbers(PyObject* operand, Row& row) {
  expect(PyTuple_Check(operand), operand, "a tuple of ints");
  if (PyTuple_GET_SIZE(operand) != 2 * static_cast<Py_ssize_t>(row.destination))
    refuse("expected two ints for each register");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(operand); ++i) number(PyTuple_GET_ITEM(operand, i));
  row.object = keep(operand);
}

void Parser::parse_relation(PyObject* operand, Row& row) {
  std::vector<uint32_t> registers;
  row.index = program_.relations.size();
  program_.relations.push_back(SizeRelation::parse(operand, registers));

  for (const uint32_t used : registers)
    read_register(ObjectPtr::steal(checked(PyLong_FromUnsignedLong(used))).get());
}

void Parser::parse_operand(char letter, PyObject* operand, Row& row) {
  // By what the letters have in common.
  if (std::string_view("saR").find(letter) != std::string_view::npos) {
    parse_register_operand(letter, operand, row);
  } else if (std::string_view("iluw").find(letter) != std::string_view::npos) {
    parse_number_operand(letter, operand, row);
  } else if (letter == 't') {
    expect(PyUnicode_Check(operand), operand, "a text");
    program_.texts.back() = keep(operand);
  } else if (letter == 'E') {
    parse_relation(operand, row);
  } else if (letter == 'P') {
    parse_numbers(operand, row);
  } else if (letter != 'd') {
    parse_object_operand(letter, operand, row);
  }
}

// --- Rows ---

const Form& Parser::form_of(PyObject* tuple) const {
  if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) == 0 ||
      !PyUnicode_Check(PyTuple_GET_ITEM(tuple, 0))) {
    throw_python(PyExc_TypeError,
                 "GuardProgram: row %zu must be a tuple that begins with a word, got %s",
                 program_.rows.size(), type_name(tuple));
  }

  PyObject* word = PyTuple_GET_ITEM(tuple, 0);
  for (const Form& form : kForms) {
    if (form.word == to_string_view(word)) return form;
  }
  throw_python(PyExc_ValueError, "GuardProgram: row %zu: unknown word %R", program_.rows.size(),
               word);
}

/// An int of 64 bits is compared without a call.
Kind specialised(const Row& row) {
  if (row.kind != Kind::Equals || !PyLong_CheckExact(row.object)) return row.kind;
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(row.object, &overflow);
  return overflow == 0 ? Kind::EqualsInt : Kind::Equals;
}

void Parser::parse_row(PyObject* tuple, int nesting) {
  const Form& form = form_of(tuple);
  word_ = form.word.data();
  if (form.kind == Kind::Watched) return parse_watched(tuple, nesting);

  if (static_cast<size_t>(PyTuple_GET_SIZE(tuple)) != form.operands.size() + 1) {
    throw_python(PyExc_ValueError, "GuardProgram: row %zu ('%s') has %zd operands, expected %zu",
                 program_.rows.size(), word_, PyTuple_GET_SIZE(tuple) - 1, form.operands.size());
  }

  Row row{form.kind};
  program_.texts.push_back(nullptr);
  for (size_t i = 0; i < form.operands.size(); ++i)
    parse_operand(form.operands[i], PyTuple_GET_ITEM(tuple, static_cast<Py_ssize_t>(i) + 1), row);
  // Last, so that a row cannot read what it fills.
  if (form.operands[0] == 'd') row.destination = fill_register(PyTuple_GET_ITEM(tuple, 1));

  row.kind = specialised(row);
  if (row.kind == Kind::EqualsInt) row.number = number(row.object);
  program_.rows.push_back(row);
}

void Parser::parse_watched(PyObject* tuple, int nesting) {
  if (PyTuple_GET_SIZE(tuple) != 4)
    refuse("expected a tuple of objects, a tuple of rows and a text");
  if (nesting == kMaxNesting) refuse("too many rows inside of each other");
  PyObject* objects = PyTuple_GET_ITEM(tuple, 1);
  expect(PyTuple_Check(objects), objects, "a tuple of objects");
  expect(PyUnicode_Check(PyTuple_GET_ITEM(tuple, 3)), PyTuple_GET_ITEM(tuple, 3), "a text");

  std::vector<PyObject*> watched;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(objects); ++i) {
    PyObject* object = PyTuple_GET_ITEM(objects, i);
    expect(WatchList::can_watch(object), object,
           "an object with a __dict__, a dict, a type, a function or a cell");
    watched.push_back(keep(object));
  }
  const size_t group = program_.watches.add_group(watched);

  const size_t position = program_.rows.size();
  program_.rows.push_back({Kind::Watched});
  program_.rows.back().index = group;
  program_.texts.push_back(keep(PyTuple_GET_ITEM(tuple, 3)));

  const std::vector<Use> before = uses_;
  parse_all(PyTuple_GET_ITEM(tuple, 2), nesting + 1);
  for (size_t i = 0; i < uses_.size(); ++i) {
    if (uses_[i] == Use::Filled && before[i] != Use::Filled) uses_[i] = Use::FilledSometimes;
  }

  program_.rows.push_back({Kind::Rearm});
  program_.rows.back().index = group;
  program_.texts.push_back(nullptr);
  program_.rows[position].destination = static_cast<uint32_t>(program_.rows.size() - position - 1);
}

void Parser::parse_all(PyObject* rows, int nesting) {
  if (!PyTuple_Check(rows) && !PyList_Check(rows))
    throw_python(PyExc_TypeError, "GuardProgram: rows must be in a tuple or list, not %s",
                 type_name(rows));
  // A copy: hashing a key may run code that changes a list.
  const ObjectPtr all = ObjectPtr::steal(checked(PySequence_Tuple(rows)));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all.get()); ++i)
    parse_row(PyTuple_GET_ITEM(all.get(), i), nesting);
}

Rows Parser::finish() {
  std::vector<Row>& rows = program_.rows;
  std::vector<size_t> outermost;
  for (size_t i = 0; i < rows.size(); ++i) {
    outermost.push_back(i);
    if (rows[i].kind == Kind::Watched) i += rows[i].destination;
  }

  // From the last to the first: where nothing changed, one step goes over all groups in a row.
  size_t end = rows.size();
  for (size_t k = outermost.size(); k-- > 0;) {
    const size_t i = outermost[k];
    if (rows[i].kind != Kind::Watched) {
      end = i;
      continue;
    }
    rows[i].high = static_cast<int64_t>(end);
  }

  const auto is_other = [](const Row& row) { return !is_plain(row.kind); };
  program_.plain_count =
      static_cast<size_t>(std::find_if(rows.begin(), rows.end(), is_other) - rows.begin());
  return std::move(program_);
}

}  // namespace

Rows parse_rows(PyObject* rows, Py_ssize_t registers) {
  if (registers < 0 || registers > kMaxRegisters)
    throw_python(PyExc_ValueError, "GuardProgram: expected 0 to %zd registers, got %zd",
                 kMaxRegisters, registers);
  Parser parser(registers);
  parser.parse_all(rows, 0);
  return parser.finish();
}

}  // namespace torch::python::compiler
