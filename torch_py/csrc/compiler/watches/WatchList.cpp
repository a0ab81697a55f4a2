// What is watched of each kind of object.
#include "torch_py/csrc/compiler/watches/WatchList.h"

#include <utility>

#include "torch_py/csrc/bindings/Errors.h"

namespace torch::python::compiler {

namespace {

/// Where an object keeps its __dict__, which is made if it was not yet; null without one.
PyObject** dict_slot(PyObject* object) {
  PyObject** slot = _PyObject_GetDictPtr(object);
  if (slot == nullptr || *slot != nullptr) return slot;

  const ObjectPtr dict = ObjectPtr::steal(PyObject_GenericGetDict(object, nullptr));
  if (!dict) PyErr_Clear();
  slot = _PyObject_GetDictPtr(object);
  return slot != nullptr && *slot != nullptr ? slot : nullptr;
}

PyObject* const* address_of_type(PyObject* object) {
  return reinterpret_cast<PyObject* const*>(&object->ob_type);
}

}  // namespace

bool WatchList::can_watch(PyObject* object) {
  if (PyFunction_Check(object) || PyCell_Check(object) || PyDict_Check(object) ||
      PyType_Check(object))
    return true;
  PyObject** slot = dict_slot(object);
  return slot != nullptr && PyDict_Check(*slot);
}

bool WatchList::is_reliable(PyObject* object) {
  if (!can_watch(object)) return false;
  if (PyFunction_Check(object) || PyCell_Check(object)) return true;
  const bool is_record = PyDict_Check(object) || PyType_Check(object);
  return ChangeRecords::is_reported(is_record ? object : *dict_slot(object));
}

void WatchList::add_object(PyObject* object) {
  if (PyFunction_Check(object)) {
    auto* function = reinterpret_cast<PyFunctionObject*>(object);
    add_pointer(&function->func_code);
    add_pointer(&function->func_defaults);
    add_pointer(&function->func_kwdefaults);
  } else if (PyCell_Check(object)) {
    add_pointer(&reinterpret_cast<PyCellObject*>(object)->ob_ref);
  } else if (PyDict_Check(object) || PyType_Check(object)) {
    records_.add(object);
  } else {
    // Its dict is made where it was not yet.
    PyObject** slot = dict_slot(object);
    add_pointer(address_of_type(object));
    add_pointer(slot);
    records_.add(*slot);
    instances_.push_back({object, pointers_.size() - 1, records_.size() - 1});
  }
}

size_t WatchList::add_group(const std::vector<PyObject*>& objects) {
  Group group{pointers_.size(), 0, records_.size(), 0, instances_.size(), 0};
  for (PyObject* object : objects) add_object(object);
  group.pointers_end = pointers_.size();
  group.records_end = records_.size();
  group.instances_end = instances_.size();

  for (size_t i = group.pointers_begin; i < group.pointers_end; ++i)
    kept_.push_back(ObjectPtr::borrow(*pointers_[i].address));
  groups_.push_back(group);
  ++unarmed_count_;
  return groups_.size() - 1;
}

bool WatchList::refresh(const Instance& instance) {
  static PyObject* nothing = nullptr;
  PyObject** slot = dict_slot(instance.object);
  pointers_[instance.pointer].address = slot != nullptr ? slot : &nothing;
  if (slot == nullptr || !PyDict_Check(*slot)) return false;

  if (*slot != kept_[instance.pointer].get()) records_.replace(instance.record, *slot);
  return true;
}

void WatchList::set_armed(Group& group, bool value) {
  if (group.is_armed == value) return;
  group.is_armed = value;
  unarmed_count_ += value ? static_cast<size_t>(-1) : 1;
}

uint64_t WatchList::prepare(size_t number) {
  Group& group = groups_[number];
  if (group.is_armed && asked_ - group.armed_at > kFewCalls) group.times_armed = 0;
  set_armed(group, false);

  bool is_reliable = true;
  for (size_t i = group.instances_begin; i < group.instances_end; ++i)
    is_reliable &= refresh(instances_[i]);
  group.is_reliable = records_.note(group.records_begin, group.records_end) && is_reliable;

  // What was kept before is freed last: that may run any code.
  std::vector<ObjectPtr> old;
  for (size_t i = group.pointers_begin; i < group.pointers_end; ++i) {
    pointers_[i].seen = *pointers_[i].address;
    old.push_back(std::exchange(kept_[i], ObjectPtr::borrow(pointers_[i].seen)));
  }
  return ++groups_[number].preparations;
}

void WatchList::arm(size_t number, uint64_t prepared) {
  Group& group = groups_[number];
  if (prepared != group.preparations || !group.is_reliable || group.times_armed == kPatience)
    return;
  ++group.times_armed;
  group.armed_at = asked_;
  set_armed(group, true);
}

int WatchList::traverse(visitproc visit, void* arg) const {
  for (const ObjectPtr& object : kept_) Py_VISIT(object.get());
  return records_.traverse(visit, arg);
}

}  // namespace torch::python::compiler
