// Changes of dicts and types up to Python 3.11, which number their versions.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <cstdint>
#include <vector>

#include "torch_py/csrc/bindings/ObjectPtr.h"

namespace torch::python::compiler {

/// Dicts and types, in the order in which they were added. A change gives a dict a version tag that
/// was never used before, and takes a type's away; so do changes of the type's bases.
class ChangeRecords {
 public:
  /// Whether all changes of a dict or type can be told.
  static bool is_reported(PyObject*) { return true; }

  void add(PyObject* dict_or_type);
  /// Puts another dict in the place of one.
  void replace(size_t i, PyObject* dict);
  size_t size() const { return records_.size(); }

  /// Takes the versions from `begin` to `end` as unchanged. False if that cannot be told for one of
  /// them.
  bool note(size_t begin, size_t end);

  bool unchanged(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      const Record& record = records_[i];
      const uint64_t now = record.is_type ? *static_cast<const unsigned int*>(record.tag)
                                          : *static_cast<const uint64_t*>(record.tag);
      if (now != record.seen) return false;
    }
    return true;
  }
  bool all_unchanged() const { return unchanged(0, records_.size()); }

  int traverse(visitproc visit, void* arg) const {
    for (const Record& record : records_) Py_VISIT(record.object.get());
    return 0;
  }

 private:
  struct Record {
    explicit Record(PyObject* dict_or_type);

    const void* tag;  // in the dict or the type
    uint64_t seen = 0;
    ObjectPtr object;
    bool is_type;
  };

  std::vector<Record> records_;
};

}  // namespace torch::python::compiler
