// Opens the library of a backend: Python says which (torch_py/cuda/_load.py), C++ asks when.
#include <dlfcn.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "c10/core/AbsentDevice.h"
#include "c10/core/LibraryFolders.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/Gil.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/devices/Devices.h"

namespace torch::python {

namespace {

std::atomic<bool> is_done = false;

std::mutex mutex;  // nobody waits for the GIL while holding it
std::condition_variable finished;
std::thread::id loading;  // the thread that is loading; of no thread before and after

/// Whether the calling thread is to load the library. Waits for another one that does; the loading
/// thread itself comes here again, since load() asks for the backend.
bool begin_loading() {
  const GilAcquire gil;
  const GilRelease unlocked;  // the loading thread needs the GIL
  std::unique_lock lock(mutex);
  if (loading == std::this_thread::get_id()) return false;

  finished.wait(lock, [] { return loading == std::thread::id(); });
  if (is_done.load(std::memory_order_relaxed)) return false;
  loading = std::this_thread::get_id();
  return true;
}

void end_loading() {
  const std::lock_guard lock(mutex);
  loading = std::thread::id();
  is_done.store(true, std::memory_order_release);
  finished.notify_all();
}

/// Calls torch_py.cuda._load.load().
void ask_python() {
  const GilAcquire gil;

  // Python may hold an exception that is on its way.
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);

  const ObjectPtr module = ObjectPtr::steal(PyImport_ImportModule("torch_py.cuda._load"));
  const ObjectPtr answer =
      module ? ObjectPtr::steal(PyObject_CallMethod(module.get(), "load", nullptr)) : ObjectPtr();
  if (!answer) {  // not a missing library, which load() reports, but an error in finding one
    const PythonError error;
    c10::set_absence_reason(c10::DeviceType::CUDA,
                            std::string("loading the CUDA library failed: ") + error.what());
  }
  PyErr_Restore(type, value, traceback);
}

/// The loader of CUDA: asks Python once; later calls return at once.
void load_cuda() {
  if (is_done.load(std::memory_order_acquire) || python_has_ended() || !begin_loading()) return;
  ask_python();
  end_loading();
}

PyObject* open_library(PyObject*, PyObject* path) {
  TORCH_PY_TRY
  const std::string name(to_string_view(path));

  // Its initialisers fill in the table of hooks. It stays open until the process ends.
  if (dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    throw_python(PyExc_OSError, "%s", dlerror());
  }
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_library_folders(PyObject*, PyObject* folders) {
  TORCH_PY_TRY
  std::vector<std::string> names;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(folders); ++i)
    names.emplace_back(to_string_view(PyList_GET_ITEM(folders, i)));
  c10::set_library_folders(std::move(names));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_absence_reason(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  const char* device = nullptr;
  const char* reason = nullptr;
  if (!PyArg_ParseTuple(args, "ss:_set_absence_reason", &device, &reason)) return nullptr;
  c10::set_absence_reason(c10::Device(device).type, reason);
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {
    {"_open_backend", open_library, METH_O,
     "_open_backend(path): loads the shared object of a backend; OSError if it cannot be."},
    {"_set_library_folders", set_library_folders, METH_O,
     "_set_library_folders(folders): where backends look for libraries, as a list of paths."},
    {"_set_absence_reason", set_absence_reason, METH_VARARGS,
     "_set_absence_reason(device_type, text): the text of errors for devices without backend."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_backend_loader(PyObject* module) {
  check_status(PyModule_AddFunctions(module, functions));
  c10::set_backend_loader(c10::DeviceType::CUDA, load_cuda);
}

}  // namespace torch::python
