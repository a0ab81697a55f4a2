// Notices changes of dicts and types.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <cstdint>
#include <vector>

namespace torch::python::compiler {

/// Dicts and types none of which may change. They are borrowed: whoever has the watches keeps them
/// alive.
///
/// Up to Python 3.11, numbers tell it: a dict's version tag, which every change replaces by one
/// never used before, and a type's, which changes of it or of its bases take away.
class Watches {
 public:
  static bool can_watch(PyObject* object) { return PyDict_Check(object) || PyType_Check(object); }

  /// Nothing is watched until arm().
  void add(PyObject* dict_or_type);

  /// Whether nothing changed since the prepare() that was followed by arm().
  bool unchanged() const {
    if (!is_armed_) return false;
    for (const DictWatch& watch : dicts_) {
      if (watch.dict->ma_version_tag != watch.seen) return false;
    }
    for (const TypeWatch& watch : types_) {
      if (watch.type->tp_version_tag != watch.seen) return false;
    }
    return true;
  }

  /// Takes what is there now as unchanged, provided that arm() follows: after whoever asks has
  /// looked at it. Returns a number for arm().
  uint64_t prepare();
  /// Does nothing after another prepare(), on another thread perhaps, nor after kPatience times:
  /// what changes that often is looked at in every call.
  void arm(uint64_t prepared);

 private:
  static constexpr int kPatience = 4;  // the first time is not a change

  struct DictWatch {
    const PyDictObject* dict;
    uint64_t seen;
  };
  struct TypeWatch {
    PyTypeObject* type;
    unsigned int seen;
  };

  std::vector<DictWatch> dicts_;
  std::vector<TypeWatch> types_;
  uint64_t preparations_ = 0;
  int times_armed_ = 0;
  bool is_armed_ = false;
};

}  // namespace torch::python::compiler
