// torch.dtype, torch.layout and torch.memory_format: their objects and members.
#include "torch_py/csrc/bindings/types/Dtype.h"

#include <string>

#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/TypeTexts.h"
#include "torch_py/csrc/bindings/types/AddType.h"

namespace torch::python {

namespace {

constexpr int kLayouts = static_cast<int>(c10::Layout::Mkldnn) + 1;
constexpr int kFormats = static_cast<int>(c10::MemoryFormat::ChannelsLast3d) + 1;
PyObject* dtype_objects[c10::kNumScalarTypes];
PyObject* layout_objects[kLayouts];
PyObject* format_objects[kFormats];

c10::ScalarType dtype_of(PyObject* self) { return reinterpret_cast<DtypeObject*>(self)->dtype; }
const char* name_of_dtype(PyObject* self) { return c10::dtype_name(dtype_of(self)); }
const char* name_of_layout(PyObject* self) {
  return c10::layout_name(reinterpret_cast<LayoutObject*>(self)->layout);
}
const char* name_of_format(PyObject* self) {
  return c10::memory_format_name(reinterpret_cast<MemoryFormatObject*>(self)->format);
}

template <const char* (*name)(PyObject*)>
PyObject* repr(PyObject* self) {
  return PyUnicode_FromFormat("torch.%s", name(self));
}

// copy.copy, copy.deepcopy and pickle store the name: "float32" is looked up in the type's module,
// torch_py.
template <const char* (*name)(PyObject*)>
PyObject* reduce(PyObject* self, PyObject*) {
  return PyUnicode_FromString(name(self));
}

PyObject* dtype_is_floating_point(PyObject* self, void*) {
  return PyBool_FromLong(c10::is_floating(dtype_of(self)));
}

PyObject* dtype_is_complex(PyObject* self, void*) {
  return PyBool_FromLong(c10::is_complex(dtype_of(self)));
}

PyObject* dtype_is_signed(PyObject* self, void*) {
  return PyBool_FromLong(c10::is_signed(dtype_of(self)));
}

PyObject* dtype_itemsize(PyObject* self, void*) {
  return PyLong_FromSize_t(c10::element_size(dtype_of(self)));
}

PyObject* dtype_to_complex(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  const c10::ScalarType dtype = dtype_of(self);
  TORCH_CHECK((c10::is_floating(dtype) && !c10::is_float8(dtype)) || c10::is_complex(dtype),
              "Unknown Complex ScalarType for ", c10::scalar_type_name(dtype));
  return Py_NewRef(dtype_object(c10::to_complex(dtype)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* dtype_to_real(PyObject* self, PyObject*) {
  return Py_NewRef(dtype_object(c10::to_real(dtype_of(self))));
}

PyGetSetDef dtype_properties[] = {
    {"is_floating_point", dtype_is_floating_point, nullptr, nullptr, nullptr},
    {"is_complex", dtype_is_complex, nullptr, nullptr, nullptr},
    {"is_signed", dtype_is_signed, nullptr, nullptr, nullptr},
    {"itemsize", dtype_itemsize, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef dtype_methods[] = {{"to_complex", dtype_to_complex, METH_NOARGS, nullptr},
                               {"to_real", dtype_to_real, METH_NOARGS, nullptr},
                               {"__reduce__", reduce<name_of_dtype>, METH_NOARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};

PyMethodDef layout_methods[] = {{"__reduce__", reduce<name_of_layout>, METH_NOARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};

PyMethodDef format_methods[] = {{"__reduce__", reduce<name_of_format>, METH_NOARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};

/// Completes one of the three types.
void prepare(PyTypeObject& type, const char* name, size_t size, reprfunc represent,
             PyMethodDef* methods) {
  type.tp_name = name;
  type.tp_basicsize = static_cast<Py_ssize_t>(size);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_repr = represent;
  type.tp_methods = methods;
  check_status(PyType_Ready(&type));

  // pickle looks the objects up in `__module__`.
  PyObject* package = checked(PyUnicode_InternFromString("torch_py"));
  check_status(PyDict_SetItemString(type.tp_dict, "__module__", package));
  Py_DECREF(package);
}

template <class Object, class Value>
PyObject* make_object(PyTypeObject& type, Value Object::* field, Value value) {
  PyObject* object = checked(type.tp_alloc(&type, 0));
  reinterpret_cast<Object*>(object)->*field = value;
  return object;
}

}  // namespace

PyTypeObject DtypeType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject LayoutType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject MemoryFormatType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject* dtype_object(c10::ScalarType dtype) { return dtype_objects[static_cast<int>(dtype)]; }
PyObject* layout_object(c10::Layout layout) { return layout_objects[static_cast<int>(layout)]; }
PyObject* memory_format_object(c10::MemoryFormat format) {
  return format_objects[static_cast<int>(format)];
}

void init_dtypes(PyObject* module) {
  DtypeType.tp_getset = dtype_properties;
  DtypeType.tp_doc = texts::torch_dtype;
  LayoutType.tp_doc = texts::torch_layout;
  MemoryFormatType.tp_doc = texts::torch_memory_format;
  prepare(DtypeType, "torch_py._C.dtype", sizeof(DtypeObject), repr<name_of_dtype>, dtype_methods);
  prepare(LayoutType, "torch_py._C.layout", sizeof(LayoutObject), repr<name_of_layout>,
          layout_methods);
  prepare(MemoryFormatType, "torch_py._C.memory_format", sizeof(MemoryFormatObject),
          repr<name_of_format>, format_methods);

  for (PyTypeObject* type : {&DtypeType, &LayoutType, &MemoryFormatType}) add_type(module, *type);

  // One object per value.
  for (int i = 0; i < c10::kNumScalarTypes; ++i) {
    dtype_objects[i] = make_object(DtypeType, &DtypeObject::dtype, static_cast<c10::ScalarType>(i));
    check_status(PyModule_AddObjectRef(module, name_of_dtype(dtype_objects[i]), dtype_objects[i]));
  }

  for (int i = 0; i < kLayouts; ++i) {
    layout_objects[i] = make_object(LayoutType, &LayoutObject::layout, static_cast<c10::Layout>(i));
    check_status(
        PyModule_AddObjectRef(module, name_of_layout(layout_objects[i]), layout_objects[i]));
  }

  for (int i = 0; i < kFormats; ++i) {
    format_objects[i] = make_object(MemoryFormatType, &MemoryFormatObject::format,
                                    static_cast<c10::MemoryFormat>(i));
    check_status(
        PyModule_AddObjectRef(module, name_of_format(format_objects[i]), format_objects[i]));
  }
}

}  // namespace torch::python
