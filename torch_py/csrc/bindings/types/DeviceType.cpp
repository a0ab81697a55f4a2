// torch.device: parsing, comparison, pickling, `with device:`.
#include "torch_py/csrc/bindings/types/DeviceType.h"

#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/TypeTexts.h"
#include "torch_py/csrc/bindings/calls/Arguments.h"
#include "torch_py/csrc/bindings/calls/FastCall.h"
#include "torch_py/csrc/bindings/state/DefaultDevice.h"
#include "torch_py/csrc/bindings/types/AddType.h"

namespace torch::python {

namespace {

constexpr Parameter of_device[] = {{"device", Kind::Device}};
constexpr Parameter of_type[] = {{"type", Kind::String},
                                 {"index", Kind::Int, kOptional | kNullable}};
constexpr Signature signatures[] = {{"device(torch.device device)", of_device, 1},
                                    {"device(str type, int index = -1)", of_type, 2}};
constinit Function device_function = {"device", nullptr, signatures, 2};

c10::Device device_of(PyObject* self) { return reinterpret_cast<DeviceObject*>(self)->device; }

/// device(type, index)
c10::Device parse(const Arguments& arguments) {
  c10::Device device(arguments.string(0));
  if (!arguments.given(1)) return device;

  const int64_t index = arguments.integer(1);
  TORCH_CHECK(!device.has_index(),
              "type (string) must not include an index because index was passed explicitly: ",
              arguments.string(0));
  TORCH_CHECK(index >= 0, "Device index must not be negative");
  TORCH_CHECK(index < 128, "Device index must be less than 128, got ", index);

  device.index = static_cast<c10::DeviceIndex>(index);
  return device;
}

PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  const FastCall call(args, kwargs);
  Arguments arguments;

  arguments.bind(device_function, nullptr, call.args(), call.nargs(), call.kwnames());
  const int overload = arguments.accepted();  // also in a mode, which need not know of types
  return make_device(overload == 0 ? arguments.device(0) : parse(arguments));
  TORCH_PY_CATCH(nullptr)
}

PyObject* device_repr(PyObject* self) {
  TORCH_PY_TRY
  const c10::Device device = device_of(self);

  const std::string type = c10::device_type_name(device.type);
  if (!device.has_index()) return PyUnicode_FromFormat("device(type='%s')", type.c_str());
  return PyUnicode_FromFormat("device(type='%s', index=%d)", type.c_str(), int{device.index});
  TORCH_PY_CATCH(nullptr)
}

PyObject* device_str(PyObject* self) {
  TORCH_PY_TRY
  return PyUnicode_FromString(device_of(self).str().c_str());
  TORCH_PY_CATCH(nullptr)
}

Py_hash_t device_hash(PyObject* self) {
  const c10::Device device = device_of(self);
  return (static_cast<Py_hash_t>(device.type) << 8) + device.index + 2;
}

PyObject* device_compare(PyObject* a, PyObject* b, int operation) {
  if (Py_TYPE(a) != &DeviceObjectType || Py_TYPE(b) != &DeviceObjectType ||
      (operation != Py_EQ && operation != Py_NE)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return PyBool_FromLong((device_of(a) == device_of(b)) == (operation == Py_EQ));
}

PyObject* device_type(PyObject* self, void*) {
  return PyUnicode_FromString(c10::device_type_name(device_of(self).type).c_str());
}

PyObject* device_index(PyObject* self, void*) {
  if (!device_of(self).has_index()) Py_RETURN_NONE;
  return PyLong_FromLong(device_of(self).index);
}

PyObject* device_reduce(PyObject* self, PyObject*) {
  const c10::Device device = device_of(self);
  const std::string type = c10::device_type_name(device.type);
  if (!device.has_index()) return Py_BuildValue("O(s)", &DeviceObjectType, type.c_str());
  return Py_BuildValue("O(si)", &DeviceObjectType, type.c_str(), int{device.index});
}

PyObject* device_enter(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  enter_device(device_of(self));
  return Py_NewRef(self);
  TORCH_PY_CATCH(nullptr)
}

PyObject* device_exit(PyObject*, PyObject*) {
  TORCH_PY_TRY
  leave_device();
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyGetSetDef properties[] = {{"type", device_type, nullptr, nullptr, nullptr},
                            {"index", device_index, nullptr, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef methods[] = {{"__reduce__", device_reduce, METH_NOARGS, nullptr},
                         {"__enter__", device_enter, METH_NOARGS,
                          "Tensors made on this thread are on this device unless one is named."},
                         {"__exit__", device_exit, METH_VARARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyTypeObject DeviceObjectType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject* make_device(c10::Device device) {
  PyObject* self = checked(DeviceObjectType.tp_alloc(&DeviceObjectType, 0));
  reinterpret_cast<DeviceObject*>(self)->device = device;
  return self;
}

void init_device(PyObject* module) {
  PyTypeObject& type = DeviceObjectType;
  type.tp_name = "torch_py.device";
  type.tp_doc = texts::torch_device;
  type.tp_basicsize = sizeof(DeviceObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_new = device_new;
  type.tp_repr = device_repr;
  type.tp_str = device_str;
  type.tp_hash = device_hash;
  type.tp_richcompare = device_compare;
  type.tp_getset = properties;
  type.tp_methods = methods;

  add_type(module, type);
  init_default_device(module);
}

}  // namespace torch::python
