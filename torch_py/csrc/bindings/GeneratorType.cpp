#include "torch_py/csrc/bindings/GeneratorType.h"
#include "c10/core/Generator.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <type_traits>

#include "aten/core/Tensor.h"
#include "torch_py/csrc/bindings/Arguments.h"
#include "torch_py/csrc/bindings/DeviceType.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/FastCall.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Wrap.h"

namespace torch::python {

namespace {

constexpr Parameter parameters[] = {{"device", Kind::Device, kOptional | kNullable}};
constexpr Signature signatures[] = {{"Generator(torch.device device = None)", parameters, 1}};
constinit Function constructor = {"Generator", "torch", signatures, 1};

c10::Generator& generator_of(PyObject* self) { return *reinterpret_cast<GeneratorObject*>(self)->generator; }

/// What get_state returns, byte for byte.
struct State {
  uint64_t seed;
  c10::MT19937 engine;
  uint64_t has_next_normal;
  double next_normal;
};
static_assert(std::is_trivially_copyable_v<State>);

PyObject* make_generator(PyTypeObject* type, c10::Generator* generator, bool owns) {
  PyObject* self = checked(type->tp_alloc(type, 0));
  reinterpret_cast<GeneratorObject*>(self)->generator = generator;
  reinterpret_cast<GeneratorObject*>(self)->owns = owns;
  return self;
}

PyObject* generator_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  const FastCall call(args, kwargs);
  Arguments arguments;
  arguments.bind(constructor, nullptr, call.args(), call.nargs(), call.kwnames());
  const c10::Device device = arguments.device(0, c10::kCPU);
  TORCH_CHECK(device.is_cpu(), "torch.Generator: there is no generator for device '", device, "' in this build");
  auto generator = std::make_unique<c10::Generator>();
  PyObject* self = make_generator(type, generator.get(), true);
  (void)generator.release();
  return self;
  TORCH_PY_CATCH(nullptr)
}

void generator_dealloc(PyObject* self) {
  auto* object = reinterpret_cast<GeneratorObject*>(self);
  PyTypeObject* type = Py_TYPE(self);
  if (object->owns) delete object->generator;
  type->tp_free(self);
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) Py_DECREF(type);
}

/// Seeds are 64 bits; negative ones wrap as two's complement.
uint64_t seed_value(const char* function, PyObject* object) {
  if (!PyLong_Check(object) || PyBool_Check(object)) {
    throw_python(PyExc_RuntimeError, "%s expected a long, but got %s", function, type_name(object));
  }
  const unsigned long long value = PyLong_AsUnsignedLongLong(object);
  if (!(value == ~0ULL && PyErr_Occurred())) return value;
  PyErr_Clear();
  return static_cast<uint64_t>(to_int64(object));
}

PyObject* manual_seed(PyObject* self, PyObject* seed) {
  TORCH_PY_TRY
  const uint64_t value = seed_value("manual_seed", seed);
  c10::Generator& generator = generator_of(self);
  const std::lock_guard lock(generator.mutex);
  generator.set_seed(value);
  return Py_NewRef(self);
  TORCH_PY_CATCH(nullptr)
}

PyObject* new_seed(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  std::random_device source;
  // 53 bits, so that the seed survives a trip through a double, as PyTorch's does.
  const uint64_t value = ((uint64_t{source()} << 32) | source()) & ((uint64_t{1} << 53) - 1);
  c10::Generator& generator = generator_of(self);
  const std::lock_guard lock(generator.mutex);
  generator.set_seed(value);
  return PyLong_FromUnsignedLongLong(value);
  TORCH_PY_CATCH(nullptr)
}

PyObject* initial_seed(PyObject* self, PyObject*) { return PyLong_FromUnsignedLongLong(generator_of(self).seed); }

at::Tensor save_state(c10::Generator& generator) {
  const std::lock_guard lock(generator.mutex);
  State state;
  std::memset(static_cast<void*>(&state), 0, sizeof state);
  state.seed = generator.seed;
  state.engine = generator.engine;
  state.has_next_normal = generator.next_normal.has_value();
  state.next_normal = generator.next_normal.value_or(0);
  const at::Tensor bytes = at::empty_tensor({int64_t{sizeof(State)}}, at::kByte, at::kCPU);
  std::memcpy(bytes.data(), &state, sizeof state);
  return bytes;
}

PyObject* get_state(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  return wrap(save_state(generator_of(self)));
  TORCH_PY_CATCH(nullptr)
}

void load_state(c10::Generator& generator, const at::Tensor& bytes) {
  TORCH_CHECK(bytes.numel() == int64_t{sizeof(State)}, "Expected a generator state of size ", sizeof(State),
              " but found the input RNG state size to be ", bytes.numel());
  State state;
  std::memcpy(static_cast<void*>(&state), bytes.contiguous().data(), sizeof state);
  const int position = state.engine.state().position;
  TORCH_CHECK(position >= 0 && position <= c10::MT19937::kStateSize, "set_state(): the tensor does not hold a generator's state");
  const std::lock_guard lock(generator.mutex);
  generator.seed = state.seed;
  generator.engine = state.engine;
  generator.next_normal.reset();
  if (state.has_next_normal != 0) generator.next_normal = state.next_normal;
}

PyObject* set_state(PyObject* self, PyObject* state) {
  TORCH_PY_TRY
  if (!is_tensor(state)) throw_python(PyExc_TypeError, "expected a torch.ByteTensor, but got %s", type_name(state));
  const at::Tensor& bytes = unpack(state);
  TORCH_CHECK_TYPE(bytes.scalar_type() == at::kByte && bytes.is_cpu(), "RNG state must be a torch.ByteTensor");
  load_state(generator_of(self), bytes);
  return Py_NewRef(self);
  TORCH_PY_CATCH(nullptr)
}

PyObject* clone_state(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  auto copy = std::make_unique<c10::Generator>();
  load_state(*copy, save_state(generator_of(self)));
  PyObject* object = make_generator(&GeneratorType, copy.get(), true);
  (void)copy.release();
  return object;
  TORCH_PY_CATCH(nullptr)
}

PyObject* generator_device(PyObject* self, void*) {
  TORCH_PY_TRY
  return make_device(generator_of(self).device);
  TORCH_PY_CATCH(nullptr)
}

PyObject* generator_repr(PyObject* self) {
  return PyUnicode_FromFormat("<torch.Generator seed=%llu>", static_cast<unsigned long long>(generator_of(self).seed));
}

PyMethodDef methods[] = {{"manual_seed", manual_seed, METH_O, "manual_seed(seed) -> Generator: starts the sequence of `seed`."},
                         {"seed", new_seed, METH_NOARGS, "seed() -> int: a non-deterministic seed, which is also returned."},
                         {"initial_seed", initial_seed, METH_NOARGS, "initial_seed() -> int: the seed set last."},
                         {"get_state", get_state, METH_NOARGS, "get_state() -> Tensor: the state as bytes."},
                         {"set_state", set_state, METH_O, "set_state(state): continues where get_state was called."},
                         {"clone_state", clone_state, METH_NOARGS, "clone_state() -> Generator: another one in the same state."},
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef properties[] = {{"device", generator_device, nullptr, nullptr, nullptr}, {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

PyTypeObject GeneratorType = {PyVarObject_HEAD_INIT(nullptr, 0)};

void init_generator(PyObject* module) {
  PyTypeObject& type = GeneratorType;
  type.tp_name = "torch_py.Generator";
  type.tp_basicsize = sizeof(GeneratorObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  type.tp_new = generator_new;
  type.tp_dealloc = generator_dealloc;
  type.tp_repr = generator_repr;
  type.tp_methods = methods;
  type.tp_getset = properties;
  check_status(PyType_Ready(&type));
  check_status(PyModule_AddObjectRef(module, "Generator", reinterpret_cast<PyObject*>(&type)));
  const ObjectPtr shared = ObjectPtr::steal(make_generator(&type, &c10::default_cpu_generator(), false));
  check_status(PyModule_AddObjectRef(module, "default_generator", shared.get()));
}

}  // namespace torch::python
