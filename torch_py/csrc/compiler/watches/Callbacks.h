// Changes of dicts and types from Python 3.12 on, which calls us.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <memory>
#include <utility>
#include <vector>

#include "torch_py/csrc/bindings/ObjectPtr.h"

namespace torch::python::compiler {

/// Dicts and types, in the order in which they were added. Asking whether any changed takes one
/// comparison.
class ChangeRecords {
 public:
  ChangeRecords() : changed_count_(std::make_unique<size_t>(0)) {}
  ChangeRecords(ChangeRecords&&) = default;
  ChangeRecords& operator=(ChangeRecords&& other) noexcept {
    std::swap(records_, other.records_);
    std::swap(changed_count_, other.changed_count_);
    return *this;
  }
  ~ChangeRecords();

  /// Whether all changes of a dict or type can be told.
  static bool is_reported(PyObject* dict_or_type);

  /// It counts as changed until note().
  void add(PyObject* dict_or_type);
  /// Puts another dict in the place of one.
  void replace(size_t i, PyObject* dict);
  size_t size() const { return records_.size(); }

  /// Takes the state from `begin` to `end` as unchanged. False if changes cannot be told for one of
  /// them.
  bool note(size_t begin, size_t end);

  bool unchanged(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      if (records_[i]->is_changed) return false;
    }
    return true;
  }
  bool all_unchanged() const { return *changed_count_ == 0; }

  int traverse(visitproc visit, void* arg) const {
    for (const auto& record : records_) Py_VISIT(record->object.get());
    return 0;
  }

  struct Record {
    ObjectPtr object;
    size_t* changed_count;  // of all records of one ChangeRecords
    bool is_changed = true;

    void set_changed(bool value);
  };

 private:
  std::vector<std::unique_ptr<Record>> records_;
  std::unique_ptr<size_t> changed_count_;
};

}  // namespace torch::python::compiler
