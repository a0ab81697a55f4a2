// Runs guard programs. Every call of compiled code does, so the common rows take a few instructions
// each.
#include <algorithm>

#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/compiler/guards/Distinct.h"
#include "torch_py/csrc/compiler/guards/Equality.h"
#include "torch_py/csrc/compiler/guards/Lookup.h"
#include "torch_py/csrc/compiler/guards/Rows.h"
#include "torch_py/csrc/compiler/guards/Storages.h"
#include "torch_py/csrc/compiler/guards/TensorFacts.h"
#include "torch_py/csrc/compiler/guards/ThreadState.h"

namespace torch::python::compiler {

namespace {

bool is_int(PyObject* object, const Row& row) {
  if (object == row.object) return true;
  if (!PyLong_CheckExact(object)) return false;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0 && value == row.number;
}

bool is_in_range(PyObject* object, const Row& row) {
  if (!PyLong_Check(object)) return false;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0 && row.number <= value && value <= row.high;
}

bool passes_plain(const Row& row, PyObject* const* registers) {
  switch (row.kind) {
    case Kind::Tensor: return row.facts->fit(registers[row.source]);
    case Kind::EqualsInt: return is_int(registers[row.source], row);
    case Kind::Is: return registers[row.source] == row.object;
    case Kind::TypeIs:
      return reinterpret_cast<PyObject*>(Py_TYPE(registers[row.source])) == row.object;
    case Kind::Alias: return registers[row.source] == registers[row.destination];
    case Kind::InRange: return is_in_range(registers[row.source], row);
    case Kind::Bound: return row.facts->fit(row.object);
    case Kind::State: return thread_state() == row.word;
    default: return false;
  }
}

/// The first of the plain rows at the beginning that fails; their number if none does.
size_t first_plain_failure(const Rows& program, PyObject* const* arguments) {
  const Row* rows = program.rows.data();
  size_t i = 0;
  while (i < program.plain_count && C10_LIKELY(passes_plain(rows[i], arguments))) ++i;
  return i;
}

/// One run. Registers are those of the call until a row fills one; then they are copied.
class Run {
 public:
  Run(Rows& program, PyObject* const* arguments, size_t count)
      : program_(program), registers_(arguments) {
    if (program.result_count > 0) copy_registers(arguments, count);
  }
  ~Run() {
    for (PyObject* object : results_) Py_DECREF(object);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// The first row from `begin` on that fails; the number of rows if none does.
  size_t first_failure(size_t begin) {
    const Row* rows = program_.rows.data();
    const size_t count = program_.rows.size();
    const bool is_quiet = program_.watches.all_unchanged();

    for (size_t i = begin; i < count; ++i) {
      const Row& row = rows[i];
      if (row.kind == Kind::Watched && is_quiet && row.high > 0) {
        i = static_cast<size_t>(row.high) - 1;
      } else if (row.kind == Kind::Watched && program_.watches.unchanged(row.index)) {
        i += row.destination;
      } else if (C10_UNLIKELY(!passes(row))) {
        return i;
      }
    }
    return count;
  }

  PyObject* const* registers() const { return registers_; }

 private:
  void copy_registers(PyObject* const* arguments, size_t count) {
    copies_.assign(program_.register_count, nullptr);
    std::copy_n(arguments, std::min<size_t>(count, program_.register_count), copies_.data());
    registers_ = copies_.data();
  }

  bool passes(const Row& row) {
    if (is_plain(row.kind)) return passes_plain(row, registers_);
    return row.kind <= Kind::Global ? reads(row) : checks(row);
  }
  bool reads(const Row& row);
  bool checks(const Row& row);

  /// Something changed: its rows are next.
  bool begin_watching(const Row& row) {
    preparations_.push_back(program_.watches.prepare(row.index));
    return true;
  }
  bool end_watching(const Row& row) {
    program_.watches.arm(row.index, preparations_.back());
    preparations_.pop_back();
    return true;
  }

  /// Takes over a reference; false for null.
  bool fill(const Row& row, PyObject* object) {
    if (object == nullptr) return false;
    results_.push_back(object);
    copies_[row.destination] = object;
    return true;
  }
  bool fill_borrowed(const Row& row, PyObject* object) { return fill(row, Py_XNewRef(object)); }

  Rows& program_;
  PyObject* const* registers_;
  c10::SmallVector<PyObject*, 16> copies_;
  c10::SmallVector<PyObject*, 8> results_;      // owned
  c10::SmallVector<uint64_t, 4> preparations_;  // of the watches whose rows are run
};

bool Run::reads(const Row& row) {
  const bool has_source =
      row.kind != Kind::Const && row.kind != Kind::Global && row.kind != Kind::Call;
  PyObject* const source = has_source ? registers_[row.source] : nullptr;

  switch (row.kind) {
    case Kind::Const: return fill_borrowed(row, row.object);
    case Kind::Attr: return fill(row, attribute_or_null(source, row.object));
    case Kind::Item: return fill_borrowed(row, item_or_null(source, row.number));
    case Kind::Key: return fill_borrowed(row, value_or_null(source, row.object));
    case Kind::Cell: return fill_borrowed(row, PyCell_Check(source) ? PyCell_GET(source) : nullptr);
    case Kind::Type: return fill_borrowed(row, reinterpret_cast<PyObject*>(Py_TYPE(source)));
    case Kind::Size: return fill(row, size_or_null(source, row.number));
    case Kind::Call: return fill(row, PyObject_CallNoArgs(row.object));
    case Kind::Global:
      return fill_borrowed(row, value_or_null(row.object, program_.objects[row.index].get()));
    default: return false;
  }
}

bool Run::checks(const Row& row) {
  switch (row.kind) {
    case Kind::Watched: return begin_watching(row);
    case Kind::Rearm: return end_watching(row);
    case Kind::Equals: return same_value(registers_[row.source], row.object) == 1;
    case Kind::Length: return has_length(registers_[row.source], row.number);
    case Kind::Keys: return has_keys(registers_[row.source], row.object);
    case Kind::NoAttr: return lacks_attribute(registers_[row.source], row.object);
    case Kind::NoKey: return lacks_key(registers_[row.source], row.object);
    case Kind::Relation: return program_.relations[row.index].holds(registers_);

    case Kind::Others:
      return are_different_objects(registers_, program_.registers.data() + row.source,
                                   row.destination);
    case Kind::Distinct:
      return are_distinct(registers_, program_.registers.data() + row.source, row.destination);
    case Kind::Storages:
      return !find_changed_storage(registers_, program_.registers.data() + row.source,
                                   row.destination, row.object);
    default: return false;
  }
}

/// Errors of comparisons make a guard fail; what is meant to end the program goes on.
Verdict verdict_on_failure() {
  if (PyErr_Occurred() == nullptr) return Verdict::Fail;
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return Verdict::Raise;
  PyErr_Clear();
  return Verdict::Fail;
}

/// Sets up registers and runs the rows from `begin` on. Not inlined, as most calls do not need it.
C10_NOINLINE Verdict run_others(Rows& rows, size_t begin, PyObject* const* arguments, size_t count,
                                std::string* reason) {
  Run run(rows, arguments, count);
  const size_t failed = run.first_failure(begin);
  if (C10_LIKELY(failed == rows.rows.size())) return Verdict::Pass;

  const Verdict verdict = verdict_on_failure();
  if (verdict == Verdict::Fail && reason != nullptr)
    *reason = describe_failure(rows, failed, run.registers());
  return verdict;
}

}  // namespace

Verdict run_rows(Rows& rows, PyObject* const* arguments, size_t count, std::string* reason) {
  const size_t plain = first_plain_failure(rows, arguments);
  if (plain == rows.rows.size()) return Verdict::Pass;
  if (plain == rows.plain_count) return run_others(rows, plain, arguments, count, reason);

  if (reason != nullptr) *reason = describe_failure(rows, plain, arguments);
  return Verdict::Fail;
}

}  // namespace torch::python::compiler
