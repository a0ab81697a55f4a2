// The callbacks of dicts and types, and who wants to hear of them.
#include "torch_py/csrc/bindings/PythonHeaders.h"
#if PY_VERSION_HEX >= 0x030C0000
#include <algorithm>
#include <unordered_map>

#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/compiler/watches/Callbacks.h"

// Note [Attributes that nobody hears of]
// Python 3.13.0 stores attributes of an object without a callback if the object's dict keeps its
// values in the object. The first use tries it. Where it fails, dicts that do not own their values
// are not watched: guards then look at their contents in every call. A copy of such a dict,
// assigned to __dict__, can be watched.

namespace torch::python::compiler {

namespace {

using Record = ChangeRecords::Record;

/// The records of each watched object. Used with the GIL held; never freed, as dicts die until the
/// end.
std::unordered_map<PyObject*, std::vector<Record*>>& listeners() {
  static auto* map = new std::unordered_map<PyObject*, std::vector<Record*>>;
  return *map;
}

/// The object stays watched, as Python does not let a callback end that; note() and forget() know.
void announce(PyObject* object) {
  const auto found = listeners().find(object);
  if (found == listeners().end()) return;
  for (Record* record : found->second) record->set_changed(true);
}

int on_dict_event(PyDict_WatchEvent, PyObject* dict, PyObject*, PyObject*) {
  announce(dict);
  return 0;
}

int on_type_event(PyTypeObject* type) {
  announce(reinterpret_cast<PyObject*>(type));
  return 0;
}

/// -1 if all numbers are taken.
int watcher_of_dicts() {
  static const int id = PyDict_AddWatcher(on_dict_event);
  return id;
}
int watcher_of_types() {
  static const int id = PyType_AddWatcher(on_type_event);
  return id;
}

/// Begins to watch, or goes on to.
bool watch(PyObject* object) {
  const bool is_type = PyType_Check(object);
  const int id = is_type ? watcher_of_types() : watcher_of_dicts();
  const int status = id < 0 ? -1 : is_type ? PyType_Watch(id, object) : PyDict_Watch(id, object);
  if (status < 0) PyErr_Clear();
  // A type that cannot get a version any more reports nothing.
  return status == 0 && (!is_type || reinterpret_cast<PyTypeObject*>(object)->tp_version_tag != 0);
}

void unwatch(PyObject* object) {
  const bool is_type = PyType_Check(object);
  const int id = is_type ? watcher_of_types() : watcher_of_dicts();
  const int status = id < 0 ? 0 : is_type ? PyType_Unwatch(id, object) : PyDict_Unwatch(id, object);
  if (status < 0) PyErr_Clear();
}

void listen(Record* record) { listeners()[record->object.get()].push_back(record); }

void forget(Record* record) {
  const auto found = listeners().find(record->object.get());
  if (found == listeners().end()) return;
  std::vector<Record*>& records = found->second;
  records.erase(std::remove(records.begin(), records.end(), record), records.end());
  if (!records.empty()) return;

  listeners().erase(found);
  unwatch(record->object.get());
}

constexpr const char* kProbe = "class Probe: pass\n"
                               "probe = Probe()\n"
                               "probe.attribute = 1\n"
                               "attributes = probe.__dict__\n"
                               "def change():\n"
                               "  for i in range(100): probe.attribute = i\n";

/// Changes an attribute in a watched dict, by code that runs often enough to become specialised.
bool hears_of_attributes() {
  const ObjectPtr space = ObjectPtr::steal(PyDict_New());
  if (!space) return false;
  const ObjectPtr done =
      ObjectPtr::steal(PyRun_String(kProbe, Py_file_input, space.get(), space.get()));
  if (!done) return false;

  size_t changed_count = 1;
  Record record{ObjectPtr::borrow(PyDict_GetItemString(space.get(), "attributes")), &changed_count};
  listen(&record);
  bool hears = watch(record.object.get());
  for (int i = 0; i < 3 && hears; ++i) {
    record.set_changed(false);
    const ObjectPtr called =
        ObjectPtr::steal(PyObject_CallNoArgs(PyDict_GetItemString(space.get(), "change")));
    hears = called && record.is_changed;
  }
  forget(&record);
  return hears;
}

/// Whether all dicts can be watched.
bool hears_of_everything() {
  static bool is_known = false;
  static bool result = false;
  if (!is_known) {
    is_known = true;
    // Python code runs in between: other threads may ask, and get "no".
    const bool found = hears_of_attributes();
    PyErr_Clear();
    result = found;
  }
  return result;
}

}  // namespace

void Record::set_changed(bool value) {
  if (is_changed == value) return;
  is_changed = value;
  *changed_count += value ? 1 : static_cast<size_t>(-1);
}

bool ChangeRecords::is_reported(PyObject* dict_or_type) {
  if (PyType_Check(dict_or_type)) return true;
  const bool owns_its_values = reinterpret_cast<PyDictObject*>(dict_or_type)->ma_values == nullptr;
  return owns_its_values || hears_of_everything();
}

ChangeRecords::~ChangeRecords() {
  for (const auto& record : records_) forget(record.get());
}

void ChangeRecords::add(PyObject* dict_or_type) {
  records_.push_back(
      std::make_unique<Record>(Record{ObjectPtr::borrow(dict_or_type), changed_count_.get()}));
  ++*changed_count_;
  listen(records_.back().get());
}

void ChangeRecords::replace(size_t i, PyObject* dict) {
  Record& record = *records_[i];
  forget(&record);
  record.object = ObjectPtr::borrow(dict);
  record.set_changed(true);
  listen(&record);
}

bool ChangeRecords::note(size_t begin, size_t end) {
  bool all = true;
  for (size_t i = begin; i < end; ++i) {
    const bool is_watched =
        is_reported(records_[i]->object.get()) && watch(records_[i]->object.get());
    records_[i]->set_changed(!is_watched);
    all = all && is_watched;
  }
  return all;
}

}  // namespace torch::python::compiler
#endif
