// The rows of a guard program.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <cstdint>
#include <string>
#include <vector>

#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/compiler/guards/SizeRelation.h"
#include "torch_py/csrc/compiler/watches/WatchList.h"

namespace torch::python::compiler {

class TensorFacts;

/// What a row does. Those up to Global fill a register, the others check; those up to State are
/// plain: they run no Python code and need nothing but the registers.
enum class Kind : uint8_t {
  Const,
  Attr,
  Item,
  Key,
  Cell,
  Type,
  Size,
  Call,  // without arguments
  Global,
  Tensor,
  EqualsInt,  // Equals, for an int of 64 bits
  Is,
  TypeIs,
  Alias,
  InRange,
  Bound,  // Tensor, for one that is an operand
  State,
  Equals,
  Length,
  Keys,
  NoAttr,
  NoKey,
  Distinct,
  Others,  // different objects, which may share memory
  Storages,
  Relation,
  Watched,
  Rearm,  // ends the rows of Watched
  Never,  // fails: the program was taken apart by the garbage collector
};

constexpr bool is_plain(Kind kind) { return kind > Kind::Global && kind <= Kind::State; }

/// One row. Registers are numbers that were checked when the program was made; objects are owned by
/// the program.
struct Row {
  Kind kind;
  uint32_t source = 0;  // register; for Distinct, Others and Storages, the first of `registers`
  // Register; for Alias, the second one; for Distinct, Others and Storages, how many; for Watched,
  // how many rows follow that are run only if something changed.
  uint32_t destination = 0;
  PyObject* object = nullptr;
  union {
    int64_t number = 0;
    const TensorFacts* facts;
    uint64_t word;
    size_t index;  // of a relation, a name or a group of watches
  };
  int64_t high =
      0;  // for InRange; for an outermost Watched, the row after it and all Watched that follow it
};

/// The rows of one program and everything that they refer to.
struct Rows {
  std::vector<Row> rows;
  std::vector<PyObject*> texts;    // of each row, borrowed from `objects`; null for those that read
  std::vector<ObjectPtr> objects;  // keeps operands and texts alive
  std::vector<uint32_t> registers;  // operands of Distinct, Others and Storages
  std::vector<SizeRelation> relations;
  WatchList watches;
  uint32_t register_count = 0;
  uint32_t input_count = 0;   // registers that are read before a row fills them
  uint32_t result_count = 0;  // rows that fill one
  size_t plain_count = 0;     // rows that are plain and come first
};

/// Throws PythonError (TypeError, ValueError) for rows that are not a program.
Rows parse_rows(PyObject* rows, Py_ssize_t registers);

enum class Verdict : uint8_t { Pass, Fail, Raise };

/// Runs the rows on a call's arguments, at least `input_count` of them. Where a guard fails and
/// `reason` is not null, it receives why. Raise: an exception such as KeyboardInterrupt is set;
/// errors of other kinds make guards fail.
Verdict run_rows(Rows& rows, PyObject* const* arguments, size_t count, std::string* reason);

/// Why a row failed: "L['x'].size(0) was 8, is 9".
std::string describe_failure(const Rows& rows, size_t row, PyObject* const* registers);

}  // namespace torch::python::compiler
