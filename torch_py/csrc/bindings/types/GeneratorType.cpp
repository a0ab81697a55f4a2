// torch.Generator: seeds and states of random number generators.
#include "torch_py/csrc/bindings/types/GeneratorType.h"
#include "aten/core/Allocation.h"
#include "c10/core/Generator.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <type_traits>
#include <unordered_map>

#include "aten/core/Tensor.h"
#include "c10/core/PhiloxGenerator.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/TypeTexts.h"
#include "torch_py/csrc/bindings/calls/Arguments.h"
#include "torch_py/csrc/bindings/calls/FastCall.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/devices/Devices.h"
#include "torch_py/csrc/bindings/types/AddType.h"
#include "torch_py/csrc/bindings/types/DeviceType.h"

namespace torch::python {

namespace {

constexpr Parameter parameters[] = {{"device", Kind::Device, kOptional | kNullable}};
constexpr Signature signatures[] = {{"Generator(torch.device device = None)", parameters, 1}};
constinit Function constructor = {"Generator", nullptr, signatures, 1};

c10::Generator& generator_of(PyObject* self) {
  return *reinterpret_cast<GeneratorObject*>(self)->generator;
}

/// The content of get_state(), byte for byte in the layout of PyTorch's CPU generator, so that
/// states in files serve both.
struct State {
  uint64_t seed;
  int32_t left;  // numbers until the block is used up, plus 1; 1 if a new block is due
  int32_t is_seeded;
  uint64_t next;                             // position in the block
  uint64_t words[c10::MT19937::kStateSize];  // 32 bits each
  double unused_normal, next_normal, unused_radius;
  int32_t has_next_normal;
  float next_float_normal;
  bool has_next_float_normal;
};
static_assert(std::is_trivially_copyable_v<State> && sizeof(State) == 5056);

/// The objects of generators that programs have made; borrowed. Used with the GIL held.
std::unordered_map<const c10::Generator*, PyObject*>& objects() {
  static std::unordered_map<const c10::Generator*, PyObject*> map;
  return map;
}

PyObject* make_generator(PyTypeObject* type, c10::Generator* generator, bool owns) {
  PyObject* self = checked(type->tp_alloc(type, 0));
  reinterpret_cast<GeneratorObject*>(self)->generator = generator;
  reinterpret_cast<GeneratorObject*>(self)->owns = owns;
  if (owns) objects()[generator] = self;
  return self;
}

std::unique_ptr<c10::Generator> new_generator(c10::Device device) {
  if (!c10::is_accelerator(device)) return std::make_unique<c10::Generator>();

  hooks_for("torch.Generator", device);
  return std::make_unique<c10::PhiloxGenerator>(c10::resolved(device));
}

/// The generator as that of an accelerator; null for the CPU's.
c10::PhiloxGenerator* as_philox(c10::Generator& generator) {
  return dynamic_cast<c10::PhiloxGenerator*>(&generator);
}

PyObject* generator_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  const FastCall call(args, kwargs);
  Arguments arguments;
  arguments.bind(constructor, nullptr, call.args(), call.nargs(), call.kwnames());
  const c10::Device device = arguments.device(0, c10::kCPU);
  TORCH_CHECK(device.is_cpu() || c10::is_accelerator(device), "torch.Generator: device '", device,
              "' has no generator in torch_py");

  std::unique_ptr<c10::Generator> generator = new_generator(device);
  PyObject* self = make_generator(type, generator.get(), true);
  (void)generator.release();
  return self;
  TORCH_PY_CATCH(nullptr)
}

void generator_dealloc(PyObject* self) {
  auto* object = reinterpret_cast<GeneratorObject*>(self);
  PyTypeObject* type = Py_TYPE(self);
  if (object->owns) {
    objects().erase(object->generator);
    delete object->generator;
  }
  type->tp_free(self);
}

/// A seed has 64 bits; negative ones wrap as two's complement.
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
  // 53 bits, so that the seed survives conversion to double, as PyTorch's does.
  const uint64_t value = ((uint64_t{source()} << 32) | source()) & ((uint64_t{1} << 53) - 1);

  c10::Generator& generator = generator_of(self);
  const std::lock_guard lock(generator.mutex);
  generator.set_seed(value);
  return PyLong_FromUnsignedLongLong(value);
  TORCH_PY_CATCH(nullptr)
}

PyObject* initial_seed(PyObject* self, PyObject*) {
  return PyLong_FromUnsignedLongLong(generator_of(self).seed);
}

/// The state of a CUDA generator: seed and counter, each of 64 bits.
at::Tensor save_philox(c10::PhiloxGenerator& generator) {
  const std::lock_guard lock(generator.mutex);
  const uint64_t words[] = {generator.seed, generator.offset};
  const at::Tensor bytes = at::empty_real_tensor({int64_t{sizeof words}}, at::kByte, at::kCPU);
  std::memcpy(bytes.data(), words, sizeof words);
  return bytes;
}

void load_philox(c10::PhiloxGenerator& generator, const at::Tensor& bytes) {
  uint64_t words[2] = {0, 0};
  // Files of early versions have the seed only.
  const bool has_counter = bytes.numel() == int64_t{sizeof words};
  TORCH_CHECK(has_counter || bytes.numel() == int64_t{sizeof words[0]}, "RNG state is wrong size");
  std::memcpy(words, bytes.contiguous().data(), has_counter ? sizeof words : sizeof words[0]);

  const std::lock_guard lock(generator.mutex);
  generator.set_seed(words[0]);
  generator.offset = words[1];
}

at::Tensor save_state(c10::Generator& generator) {
  if (c10::PhiloxGenerator* philox = as_philox(generator)) return save_philox(*philox);
  const std::lock_guard lock(generator.mutex);
  State state;
  std::memset(static_cast<void*>(&state), 0, sizeof state);

  const c10::MT19937::State& engine = generator.engine.state();
  const bool is_due = engine.position == c10::MT19937::kStateSize;

  state.seed = generator.seed;
  state.left = c10::MT19937::kStateSize + 1 - engine.position;
  state.is_seeded = 1;
  state.next = is_due ? 0 : static_cast<uint64_t>(engine.position);

  for (size_t i = 0; i < engine.words.size(); ++i) state.words[i] = engine.words[i];

  state.has_next_normal = generator.next_normal.has_value();
  state.next_normal = generator.next_normal.value_or(0);

  const at::Tensor bytes = at::empty_real_tensor({int64_t{sizeof(State)}}, at::kByte, at::kCPU);
  std::memcpy(bytes.data(), &state, sizeof state);
  return bytes;
}

PyObject* get_state(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  return wrap(save_state(generator_of(self)));
  TORCH_PY_CATCH(nullptr)
}

void load_state(c10::Generator& generator, const at::Tensor& bytes) {
  if (c10::PhiloxGenerator* philox = as_philox(generator)) return load_philox(*philox, bytes);
  TORCH_CHECK(bytes.numel() == int64_t{sizeof(State)}, "Expected a generator state of size ",
              sizeof(State), " but found the input RNG state size to be ", bytes.numel());

  State state;
  std::memcpy(static_cast<void*>(&state), bytes.contiguous().data(), sizeof state);

  constexpr uint64_t size = c10::MT19937::kStateSize;
  const bool is_consistent =
      state.left == 1 || state.left + static_cast<int64_t>(state.next) == int64_t{size} + 1;
  TORCH_CHECK(state.is_seeded == 1 && state.left >= 1 && state.next <= size && is_consistent,
              "set_state(): Invalid mt19937 state");

  // The words, with the position in PyTorch's terms.
  c10::MT19937::State engine;
  engine.seed = static_cast<uint32_t>(state.seed);
  engine.position = state.left == 1 ? static_cast<int32_t>(size) : static_cast<int32_t>(state.next);
  for (size_t i = 0; i < engine.words.size(); ++i)
    engine.words[i] = static_cast<uint32_t>(state.words[i]);

  const std::lock_guard lock(generator.mutex);
  generator.seed = state.seed;
  generator.engine.set_state(engine);
  generator.next_normal.reset();

  if (state.has_next_normal != 0) {
    generator.next_normal = state.next_normal;
  } else if (state.has_next_float_normal) {
    generator.next_normal = state.next_float_normal;
  }
}

PyObject* set_state(PyObject* self, PyObject* state) {
  TORCH_PY_TRY
  if (!is_tensor(state))
    throw_python(PyExc_TypeError, "expected a torch.ByteTensor, but got %s", type_name(state));

  const at::Tensor& bytes = unpack(state);
  TORCH_CHECK_TYPE(bytes.scalar_type() == at::kByte && bytes.is_cpu(),
                   "RNG state must be a torch.ByteTensor");
  load_state(generator_of(self), bytes);
  return Py_NewRef(self);
  TORCH_PY_CATCH(nullptr)
}

PyObject* clone_state(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  std::unique_ptr<c10::Generator> copy = new_generator(generator_of(self).device);
  load_state(*copy, save_state(generator_of(self)));
  PyObject* object = make_generator(&GeneratorType, copy.get(), true);
  (void)copy.release();
  return object;
  TORCH_PY_CATCH(nullptr)
}

PyObject* get_offset(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  c10::PhiloxGenerator* const philox = as_philox(generator_of(self));
  TORCH_CHECK(philox != nullptr, "CPU Generator does not use offset");
  const std::lock_guard lock(philox->mutex);
  return PyLong_FromUnsignedLongLong(philox->offset);
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_offset(PyObject* self, PyObject* offset) {
  TORCH_PY_TRY
  if (!is_int(offset))
    throw_python(PyExc_TypeError, "set_offset expected an int, but got %s", type_name(offset));
  c10::PhiloxGenerator* const philox = as_philox(generator_of(self));
  TORCH_CHECK(philox != nullptr, "CPU Generator does not use offset");
  const int64_t value = to_int64(offset);
  TORCH_CHECK(value >= 0 && value % 4 == 0, "offset must be a multiple of 4, got ", value);

  const std::lock_guard lock(philox->mutex);
  philox->offset = static_cast<uint64_t>(value);
  return Py_NewRef(self);
  TORCH_PY_CATCH(nullptr)
}

PyObject* graphsafe_get_state(PyObject*, PyObject*) {
  PyErr_SetString(PyExc_NotImplementedError,
                  "graphsafe_get_state is not supported in this Generator");
  return nullptr;
}

PyObject* graphsafe_set_state(PyObject*, PyObject* state) {
  TORCH_PY_TRY
  if (!is_generator(state))
    throw_python(PyExc_TypeError, "expected a Generator, but got %s", type_name(state));
  throw_python(PyExc_NotImplementedError, "graphsafe_set_state is not supported in this Generator");
  TORCH_PY_CATCH(nullptr)
}

/// Pickles as a call of the class followed by set_state.
PyObject* generator_reduce(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  const ObjectPtr device = ObjectPtr::steal(make_device(generator_of(self).device));
  const ObjectPtr state = ObjectPtr::steal(wrap(save_state(generator_of(self))));
  return checked(Py_BuildValue("O(O)O", Py_TYPE(self), device.get(), state.get()));
  TORCH_PY_CATCH(nullptr)
}

PyObject* generator_device(PyObject* self, void*) {
  TORCH_PY_TRY
  return make_device(generator_of(self).device);
  TORCH_PY_CATCH(nullptr)
}

PyObject* generator_repr(PyObject* self) {
  return PyUnicode_FromFormat("<torch.Generator seed=%llu>",
                              static_cast<unsigned long long>(generator_of(self).seed));
}

/// _cuda_defaultGenerator(index): the generator of a device, which lives as long as the process.
PyObject* cuda_default_generator(PyObject*, PyObject* index) {
  TORCH_PY_TRY
  const c10::Device device(c10::DeviceType::CUDA, to_cuda_index(index));
  return make_generator(&GeneratorType, &c10::default_generator(device), false);
  TORCH_PY_CATCH(nullptr)
}

/// The same for an accelerator of any kind.
PyObject* default_generator_of(PyObject*, PyObject* object) {
  TORCH_PY_TRY
  const c10::Device device = to_device(object);
  hooks_for("default_generator", device);
  return make_generator(&GeneratorType, &c10::default_generator(device), false);
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {{"_cuda_defaultGenerator", cuda_default_generator, METH_O, nullptr},
                           {"_accelerator_generator", default_generator_of, METH_O, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

PyMethodDef methods[] = {
    {"manual_seed", manual_seed, METH_O,
     "manual_seed(seed) -> Generator: starts the sequence of `seed`."},
    {"seed", new_seed, METH_NOARGS, "seed() -> int: sets and returns a non-deterministic seed."},
    {"initial_seed", initial_seed, METH_NOARGS, "initial_seed() -> int: the seed set last."},
    {"get_state", get_state, METH_NOARGS, "get_state() -> Tensor: the state as bytes."},
    {"set_state", set_state, METH_O, "set_state(state): continues where get_state was called."},
    {"clone_state", clone_state, METH_NOARGS,
     "clone_state() -> Generator: another one in the same state."},
    {"get_offset", get_offset, METH_NOARGS,
     "For generators that count the numbers they have drawn, which this one does not."},
    {"set_offset", set_offset, METH_O, nullptr},
    {"graphsafe_get_state", graphsafe_get_state, METH_NOARGS,
     "For generators that a graph of kernels can share."},
    {"graphsafe_set_state", graphsafe_set_state, METH_O, nullptr},
    {"__setstate__", set_state, METH_O, nullptr},
    {"__reduce__", generator_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {{"device", generator_device, nullptr, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

PyTypeObject GeneratorType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject* generator_object(c10::Generator* generator) {
  const auto found = objects().find(generator);
  return found != objects().end() ? Py_NewRef(found->second)
                                  : make_generator(&GeneratorType, generator, false);
}

void init_generator(PyObject* module) {
  PyTypeObject& type = GeneratorType;
  type.tp_name = "torch_py.Generator";
  type.tp_doc = texts::torch_Generator;
  type.tp_basicsize = sizeof(GeneratorObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  type.tp_new = generator_new;
  type.tp_dealloc = generator_dealloc;
  type.tp_repr = generator_repr;
  type.tp_methods = methods;
  type.tp_getset = properties;

  add_type(module, type);
  check_status(PyModule_AddFunctions(module, functions));

  const ObjectPtr shared =
      ObjectPtr::steal(make_generator(&type, &c10::default_cpu_generator(), false));
  check_status(PyModule_AddObjectRef(module, "default_generator", shared.get()));
}

}  // namespace torch::python
