// Binding a call to one of a function's signatures: Note [Binding a call].
#include "torch_py/csrc/bindings/calls/Arguments.h"

#include <algorithm>
#include <atomic>

#include "aten/core/Warning.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Registry.h"
#include "torch_py/csrc/bindings/calls/CallErrors.h"
#include "torch_py/csrc/bindings/calls/TorchFunction.h"

namespace torch::python {

namespace {

/// Interns the parameter names of all signatures, when a function first receives a keyword: most
/// functions are only ever called by position.
PyObject** intern_names(const Function& function) {
  int total = 0;
  for (int s = 0; s < function.count; ++s) total += function.signatures[s].count;

  // Lives as long as the process, as the function does.
  auto** names = new PyObject*[static_cast<size_t>(total)];
  PyObject** next = names;
  for (int s = 0; s < function.count; ++s) {
    for (int i = 0; i < function.signatures[s].count; ++i) {
      *next++ = checked(PyUnicode_InternFromString(function.signatures[s].parameters[i].name));
    }
  }

  return function.interned = names;
}

/// The slot that a keyword names, or -1. Interned names are compared as pointers first.
int find_parameter(const Signature& signature, PyObject* const* names, PyObject* keyword) {
  for (int i = 0; i < signature.count; ++i) {
    if (names[i] == keyword && i != signature.self) return i;
  }

  const char* text = PyUnicode_AsUTF8(keyword);
  if (text == nullptr) throw PythonError();
  for (int i = 0; i < signature.count; ++i) {
    if (i != signature.self && keyword_matches(text, signature.parameters[i].name)) return i;
  }
  return -1;
}

/// Whether an object that is not a tensor takes calls over. Such objects, the proxies of torch.fx
/// for example, may stand for values of any type, numbers too, and no signature accepts them there.
bool stands_for_value(PyObject* object) {
  return !PyLong_CheckExact(object) && !PyFloat_CheckExact(object) && !is_tensor(object) &&
         has_torch_function(object);
}

/// The same for an argument or, of a sequence, an element.
bool contains_stand_in(PyObject* object) {
  if (!is_sequence(object)) return stands_for_value(object);
  for (Py_ssize_t i = 0; i < sequence_length(object); ++i) {
    if (stands_for_value(sequence_item(object, i))) return true;
  }
  return false;
}

/// Only the first element is checked: the accessors check the others when they convert them.
bool is_list_of(const Parameter& parameter, PyObject* object, bool (*check)(PyObject*)) {
  if (is_sequence(object)) {
    return sequence_length(object) == 0 ||
           (check(sequence_item(object, 0)) && !contains_stand_in(object));
  }
  return parameter.list_size > 0 && check(object);
}

/// Whether the signature being matched would read a tensor of a transform (vmap, jvp) as a number.
/// Such a tensor has no single value: it holds the members of a batch, or carries a tangent.
thread_local bool reads_wrapped = false;

/// Whether a tensor's class takes calls over, in Python or below autograd.
bool is_wrapped(PyObject* tensor) {
  constexpr auto kKeys =
      c10::DispatchKeySet(c10::DispatchKey::Python) | c10::DispatchKey::Transform;
  return unpack(tensor).key_set().has_any(kKeys) ||
         (!is_plain_tensor(tensor) && has_torch_function(tensor));
}

/// Raises what `item` raises for a tensor of a transform; other objects pass.
void check_number(PyObject* object) {
  if (object == nullptr || !is_tensor(object)) return;
  if (unpack(object).key_set().has(c10::DispatchKey::Transform))
    ObjectPtr::steal(checked(PyObject_CallMethod(object, "item", nullptr)));
}

}  // namespace

int Arguments::bind(const Function& function, PyObject* self, PyObject* const* args,
                    Py_ssize_t nargs, PyObject* kwnames) {
  function_ = &function;
  self_ = self;
  args_ = args;
  nargs_ = nargs;
  kwnames_ = kwnames != nullptr && PyTuple_GET_SIZE(kwnames) > 0 ? kwnames : nullptr;
  PyObject* const* names = kwnames_ == nullptr            ? nullptr
                           : function.interned != nullptr ? function.interned
                                                          : intern_names(function);

  // A signature that would read a tensor as a number is only a fallback: a later one may take it
  // for the tensor that it is.
  int as_number = -1;
  PyObject* const* as_number_names = nullptr;

  for (int s = 0; s < function.count; ++s) {
    const Signature& signature = function.signatures[s];
    if (match(signature, names)) {
      if (C10_LIKELY(!reads_wrapped)) {
        signature_ = &signature;
        return overridden_ || in_function_mode() ? kOverridden : s;
      }
      if (as_number < 0) {
        as_number = s;
        as_number_names = names;
      }
    }
    if (names != nullptr) names += signature.count;
  }

  if (as_number >= 0 && match(function.signatures[as_number], as_number_names)) {
    signature_ = &function.signatures[as_number];
    for (int i = 0; i < signature_->count; ++i) {
      const Kind kind = signature_->parameters[i].kind;
      if (kind != Kind::Tensor && kind != Kind::TensorOrNumber) check_number(slots_[i]);
    }
    return overridden_ || in_function_mode() ? kOverridden : as_number;
  }

  // Functions without an owner are never taken over.
  const Py_ssize_t total = nargs_ + (kwnames_ == nullptr ? 0 : PyTuple_GET_SIZE(kwnames_));
  if (function.owner != nullptr && std::any_of(args_, args_ + total, contains_stand_in)) {
    signature_ = function.signatures;
    return kOverridden;
  }
  throw_call_error({function, args_, nargs_, kwnames_});
}

bool Arguments::match(const Signature& signature, PyObject* const* names) {
  overridden_ = false;
  reads_wrapped = false;
  varargs_slot_ = -1;
  count_ = signature.count;
  for (int i = 0; i < count_; ++i) slots_[i] = nullptr;

  if (signature.self >= 0) {
    slots_[signature.self] = self_;
    accepts_tensor(signature.parameters[signature.self], self_);
  }

  if (!match_positional(signature)) return false;
  if (kwnames_ != nullptr && !match_keywords(signature, names)) return false;

  // Whatever is left empty must have a default.
  for (int i = 0; i < count_; ++i) {
    if (slots_[i] == nullptr && !signature.parameters[i].has(kOptional)) return false;
  }
  return true;
}

bool Arguments::match_positional(const Signature& signature) {
  int next = 0;
  for (Py_ssize_t i = 0; i < nargs_; ++i) {
    if (next == signature.self) ++next;
    if (next >= signature.count || signature.parameters[next].has(kKeywordOnly)) return false;
    const Parameter& parameter = signature.parameters[next];

    if (accepts(parameter, args_[i])) {
      slots_[next++] = args_[i];
      continue;
    }

    // The positional arguments from here on are the elements of an int list: x.view(2, 3).
    if (!parameter.has(kVarargs) || !is_int(args_[i])) return false;
    if (std::any_of(args_ + i, args_ + nargs_, stands_for_value)) return false;
    varargs_slot_ = next;
    varargs_start_ = static_cast<int>(i);
    slots_[next] = args_[i];
    return true;  // the other elements are checked when they are converted
  }
  return true;
}

bool Arguments::match_keywords(const Signature& signature, PyObject* const* names) {
  const Py_ssize_t count = PyTuple_GET_SIZE(kwnames_);
  for (Py_ssize_t k = 0; k < count; ++k) {
    const int i = find_parameter(signature, names, PyTuple_GET_ITEM(kwnames_, k));
    if (i < 0 || slots_[i] != nullptr) return false;
    if (!accepts(signature.parameters[i], args_[nargs_ + k])) return false;
    slots_[i] = args_[nargs_ + k];
  }
  return true;
}

bool Arguments::accepts(const Parameter& parameter, PyObject* object) {
  if (object == Py_None) return parameter.has(kNullable) || parameter.kind == Kind::Any;

  switch (parameter.kind) {
    case Kind::Tensor:
    case Kind::TensorOrNumber: return accepts_tensor(parameter, object);
    case Kind::TensorList:
    case Kind::OptionalTensorList: return accepts_tensor_list(parameter, object);
    default:
      if (!parameter_accepts(parameter, object)) return false;
      reads_wrapped =
          reads_wrapped || (is_tensor(object) && parameter.kind != Kind::Any && is_wrapped(object));
      return true;
  }
}

bool Arguments::accepts_tensor(const Parameter& parameter, PyObject* object) {
  if (C10_LIKELY(is_plain_tensor(object))) return true;
  if (is_tensor(object)) {
    overridden_ = overridden_ || has_torch_function(object);
    return true;
  }
  if (parameter.kind == Kind::TensorOrNumber && is_scalar(object)) return true;
  if (!has_torch_function(object)) return false;
  overridden_ = true;
  return true;
}

bool Arguments::accepts_tensor_list(const Parameter& parameter, PyObject* object) {
  if (!is_sequence(object)) return false;
  for (Py_ssize_t i = 0; i < sequence_length(object); ++i) {
    PyObject* item = sequence_item(object, i);
    if (item == Py_None && parameter.kind == Kind::OptionalTensorList) continue;
    if (!accepts_tensor(parameter, item)) return false;
  }
  return true;
}

bool parameter_accepts(const Parameter& parameter, PyObject* object) {
  if (object == Py_None) return parameter.has(kNullable) || parameter.kind == Kind::Any;

  switch (parameter.kind) {
    case Kind::Any: return true;
    case Kind::Tensor: return is_tensor(object) || has_torch_function(object);
    case Kind::TensorOrNumber:
      return is_tensor(object) || is_scalar(object) || has_torch_function(object);
    case Kind::TensorList:
    case Kind::OptionalTensorList: return is_sequence(object);
    case Kind::Scalar: return is_scalar(object);
    case Kind::ScalarList: return is_list_of(parameter, object, is_scalar);
    case Kind::Int: return is_int(object);
    case Kind::IntList: return is_list_of(parameter, object, is_int);
    case Kind::Float: return is_float(object);
    case Kind::FloatList: return is_list_of(parameter, object, is_float);
    case Kind::Bool: return is_bool(object);
    case Kind::BoolList: return is_sequence(object);
    case Kind::ScalarType: return is_dtype(object);
    case Kind::Layout: return is_layout(object);
    case Kind::Device: return is_device(object);
    case Kind::MemoryFormat: return is_memory_format(object);
    case Kind::Generator: return is_generator(object);
    case Kind::String: return PyUnicode_Check(object);
  }

  return false;
}

void Arguments::modernize(int replacement, std::initializer_list<int> order) {
  const Signature& modern = function_->signatures[replacement];

  // Once per process, as in PyTorch: such calls come from old programs, which have many of them.
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true)) {
    at::warn("This overload of ", function_->name, " is deprecated:\n\t", signature_->text,
             "\nConsider using one of the following signatures instead:\n\t", modern.text);
  }

  PyObject* given[kMaxSlots];
  std::copy_n(slots_, count_, given);
  count_ = 0;
  for (const int slot : order) slots_[count_++] = slot < 0 ? nullptr : given[slot];
  signature_ = &modern;
}

PyObject* Arguments::call_override(const Function& function) {
  if (self_ != nullptr) return call_method_override(function.name, self_, args_, nargs_, kwnames_);

  const ObjectPtr space = ObjectPtr::steal(checked(namespace_of(function.owner)));
  const ObjectPtr callable =
      ObjectPtr::steal(checked(PyObject_GetAttrString(space.get(), function.name)));

  const ObjectPtr tuple = ObjectPtr::steal(checked(PyTuple_New(nargs_)));
  for (Py_ssize_t i = 0; i < nargs_; ++i) PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(args_[i]));

  const ObjectPtr keywords = ObjectPtr::steal(checked(PyDict_New()));
  for (Py_ssize_t i = 0; kwnames_ != nullptr && i < PyTuple_GET_SIZE(kwnames_); ++i) {
    check_status(PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(kwnames_, i), args_[nargs_ + i]));
  }

  return call_torch_function(callable.get(), function.name, tuple.get(), keywords.get());
}

void throw_only_numbers(const char* op_name, const char* parameters) {
  throw_python(PyExc_TypeError,
               "%s() received an invalid combination of arguments - one of %s must be a Tensor, "
               "but all are numbers",
               op_name, parameters);
}

}  // namespace torch::python
