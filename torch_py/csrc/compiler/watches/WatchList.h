// Notices that something changed which compiled code depends on.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <cstdint>
#include <vector>

#include "torch_py/csrc/bindings/ObjectPtr.h"
#if PY_VERSION_HEX >= 0x030C0000
#include "torch_py/csrc/compiler/watches/Callbacks.h"
#else
#include "torch_py/csrc/compiler/watches/VersionTags.h"
#endif

namespace torch::python::compiler {

/// Groups of watched objects. What counts as a change:
///   dict       any change of its items
///   type       any change of its attributes, or of those of its bases
///   function   another __code__, __defaults__ or __kwdefaults__
///   cell       another content
///   others     another __class__, another __dict__, any change of the items of __dict__
///
/// Note [Watches]
/// Guards on what a program reads out of modules, classes and globals are many and rarely fail. The
/// objects that are read are watched instead; only if one of a group changed are the group's rows
/// run, and if they pass, the group is watched again. Dicts and types tell by a version or by a
/// callback, depending on Python's version. Pointers inside of objects are compared; what they
/// pointed to is kept alive, so that nothing else can take its place.
class WatchList {
 public:
  /// Whether an object is of a kind that can be watched: others have to have a __dict__.
  static bool can_watch(PyObject* object);
  /// Whether, in addition, all changes of it can be told in this version of Python.
  static bool is_reliable(PyObject* object);

  /// Adds a group of objects for which can_watch() holds and returns its number. The caller keeps
  /// them alive. They count as changed until arm().
  size_t add_group(const std::vector<PyObject*>& objects);

  /// Whether no group changed. Costs a nanosecond or two for each object.
  bool all_unchanged() {
    ++asked_;
    return unarmed_count_ == 0 && pointers_unchanged(0, pointers_.size()) &&
           records_.all_unchanged();
  }
  bool unchanged(size_t group) const {
    const Group& g = groups_[group];
    return g.is_armed && pointers_unchanged(g.pointers_begin, g.pointers_end) &&
           records_.unchanged(g.records_begin, g.records_end);
  }

  /// Takes what is there now as unchanged, provided that arm() follows: after whoever asks has
  /// looked at it. Returns a number for arm().
  uint64_t prepare(size_t group);
  /// Does nothing after another prepare(), on another thread perhaps. What changes within a few
  /// calls, kPatience times in a row, is no longer watched but looked at in every call.
  void arm(size_t group, uint64_t prepared);

  int traverse(visitproc visit, void* arg) const;

 private:
  static constexpr int kPatience = 4;  // the first time is not a change
  static constexpr uint64_t kFewCalls = 10;

  /// A pointer inside of an object.
  struct Pointer {
    PyObject* const* address;
    PyObject* seen;  // also in `kept_`
  };
  struct Group {
    size_t pointers_begin, pointers_end;
    size_t records_begin, records_end;
    size_t instances_begin, instances_end;
    uint64_t preparations = 0;
    uint64_t armed_at = 0;     // `asked_` at arm()
    int times_armed = 0;       // in a row
    bool is_reliable = false;  // changes since prepare() can be told
    bool is_armed = false;
  };

  bool pointers_unchanged(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      if (*pointers_[i].address != pointers_[i].seen) return false;
    }
    return true;
  }
  /// The pointers to the class and the __dict__ of an object, and the record of its __dict__.
  struct Instance {
    PyObject* object;
    size_t pointer;  // to the dict
    size_t record;
  };

  void add_object(PyObject* object);
  /// Finds the __dict__ that an object has now. False without one.
  bool refresh(const Instance& instance);
  void add_pointer(PyObject* const* address) { pointers_.push_back({address, nullptr}); }
  void set_armed(Group& group, bool value);

  std::vector<Group> groups_;
  std::vector<Instance> instances_;
  std::vector<Pointer> pointers_;
  std::vector<ObjectPtr> kept_;  // what `pointers_` saw
  ChangeRecords records_;
  size_t unarmed_count_ = 0;
  uint64_t asked_ = 0;  // how often all_unchanged() was called
};

}  // namespace torch::python::compiler
