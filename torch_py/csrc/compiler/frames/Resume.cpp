// resume(): lets CPython go on in the middle of a function.
#include "torch_py/csrc/compiler/frames/Evaluator.h"

#include "c10/util/SmallVector.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/compiler/Module.h"

// Note [Resuming]
// The rest of a function runs in an ordinary frame of its code, so that line numbers, tracebacks,
// locals() and super() are what they would be. A new function of the code is called with None for
// every argument. Before its frame begins, Evaluator.cpp lets us fill the slots and the stack and
// choose the next instruction. What the interpreter trusts a compiler to keep (that the stack fits
// the instruction) it also trusts here: whoever calls resume() has interpreted the function up to
// there. Generators and coroutines cannot be resumed, as their frames are not begun by a call.

namespace torch::python::compiler {

namespace {

using frames::Frame;

PyObject* unbound = nullptr;  // stands for a slot without a value

struct Continuation {
  PyCodeObject* code;
  int unit;  // of the next instruction
  PyObject* closure;
  PyObject* fastlocals;
  PyObject* stack;
  PyObject* blocks;
};

PyObject* value_or_null(PyObject* tuple, Py_ssize_t i) {
  PyObject* value = PyTuple_GET_ITEM(tuple, i);
  return value == unbound ? nullptr : Py_NewRef(value);
}

// --- Checks ---

void check_tuple(PyObject* object, Py_ssize_t size, const char* argument) {
  if (!PyTuple_CheckExact(object))
    throw_python(PyExc_TypeError, "resume(): argument '%s' must be a tuple, not %s", argument,
                 type_name(object));
  if (PyTuple_GET_SIZE(object) != size) {
    throw_python(PyExc_ValueError, "resume(): expected %zd elements in '%s', got %zd", size,
                 argument, PyTuple_GET_SIZE(object));
  }
}

/// The unit of an instruction at which a frame can go on.
int checked_unit(PyCodeObject* code, int64_t offset) {
  const ObjectPtr bytes = ObjectPtr::steal(checked(frames::bytes_of(code)));
  const auto* text = reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(bytes.get()));
  const bool is_inside = offset >= 0 && offset < PyBytes_GET_SIZE(bytes.get()) && offset % 2 == 0;

  // Opcode 0 is not an instruction: from 3.11 on, it fills the room that instructions use for
  // caching.
  if (!is_inside || text[offset] == 0 || (offset > 0 && text[offset - 2] == EXTENDED_ARG))
    throw_python(PyExc_ValueError, "resume(): no instruction begins at offset %lld",
                 static_cast<long long>(offset));
  if (offset / 2 < frames::first_unit(code)) {
    throw_python(PyExc_ValueError,
                 "resume(): offset %lld is before the first instruction of the source",
                 static_cast<long long>(offset));
  }
  return static_cast<int>(offset / 2);
}

void check_cells(PyObject* tuple, const char* argument) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    if (!PyCell_Check(PyTuple_GET_ITEM(tuple, i)))
      throw_python(PyExc_TypeError, "resume(): element %zd of '%s' must be a cell, not %s", i,
                   argument, type_name(PyTuple_GET_ITEM(tuple, i)));
  }
}

void check_locals(const Continuation& given) {
  const Py_ssize_t count = frames::slot_count(given.code) - frames::free_count(given.code);
  check_tuple(given.fastlocals, count, "fastlocals");
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* value = PyTuple_GET_ITEM(given.fastlocals, i);
    if (value == unbound || !frames::is_cell(given.code, i) || PyCell_Check(value)) continue;
    throw_python(PyExc_TypeError, "resume(): element %zd of 'fastlocals' must be a cell, not %s", i,
                 type_name(value));
  }
}

void check_blocks(const Continuation& given) {
  PyObject* blocks = given.blocks;
  if (!PyTuple_CheckExact(blocks))
    throw_python(PyExc_TypeError, "resume(): argument 'blocks' must be a tuple, not %s",
                 type_name(blocks));
  if (PyTuple_GET_SIZE(blocks) > frames::kMaxBlocks)
    throw_python(PyExc_ValueError, "resume(): %zd blocks, at most %zd are possible",
                 PyTuple_GET_SIZE(blocks), frames::kMaxBlocks);

  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(blocks); ++i) {
    int type = 0;
    int handler = 0;
    int level = 0;
    PyObject* block = PyTuple_GET_ITEM(blocks, i);
    if (!PyTuple_Check(block))
      throw_python(PyExc_TypeError,
                   "resume(): a block must be (type, offset of the handler, level)");
    if (!PyArg_ParseTuple(block, "iii:resume", &type, &handler, &level)) throw PythonError();
    checked_unit(given.code, handler);
    if (level < 0 || level > PyTuple_GET_SIZE(given.stack))
      throw_python(PyExc_ValueError, "resume(): block %zd begins at level %d of a stack of %zd", i,
                   level, PyTuple_GET_SIZE(given.stack));
  }
}

void check_code(PyObject* code, PyObject* globals, PyObject* builtins) {
  if (!PyCode_Check(code))
    throw_python(PyExc_TypeError, "resume(): argument 'code' must be code, not %s",
                 type_name(code));
  if (!PyDict_Check(globals))
    throw_python(PyExc_TypeError, "resume(): argument 'globals' must be a dict, not %s",
                 type_name(globals));
  if (builtins != Py_None && !PyDict_Check(builtins))
    throw_python(PyExc_TypeError, "resume(): argument 'builtins' must be a dict or None, not %s",
                 type_name(builtins));

  const int flags = reinterpret_cast<PyCodeObject*>(code)->co_flags;
  if ((flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0)
    throw_python(PyExc_ValueError, "resume(): generators and coroutines cannot be resumed");
  if ((flags & CO_OPTIMIZED) == 0)
    throw_python(PyExc_ValueError,
                 "resume(): only functions can be resumed, not modules and class bodies");
}

/// Checks all arguments; `args` are those of resume().
Continuation parse(PyObject* const* args, Py_ssize_t nargs) {
  if (nargs < 7 || nargs > 8)
    throw_python(PyExc_TypeError, "resume() takes 7 or 8 positional arguments, got %zd", nargs);
  check_code(args[0], args[2], args[3]);

  static PyObject* empty = PyTuple_New(0);
  auto* code = reinterpret_cast<PyCodeObject*>(args[0]);
  const Continuation given{code,
                           checked_unit(code, to_int64(args[1])),
                           args[4] == Py_None ? empty : args[4],
                           args[5],
                           args[6],
                           nargs > 7 ? args[7] : empty};
  check_tuple(given.closure, frames::free_count(code), "closure");
  check_cells(given.closure, "closure");
  check_locals(given);
  if (!PyTuple_CheckExact(given.stack))
    throw_python(PyExc_TypeError, "resume(): argument 'stack' must be a tuple, not %s",
                 type_name(given.stack));
  if (PyTuple_GET_SIZE(given.stack) > code->co_stacksize)
    throw_python(PyExc_ValueError, "resume(): %zd values on a stack of %d",
                 PyTuple_GET_SIZE(given.stack), code->co_stacksize);
  check_blocks(given);
  return given;
}

// --- The frame ---

void fill_frame(Frame* frame, void* how) {
  const Continuation& given = *static_cast<const Continuation*>(how);
  PyObject** slots = frames::slots_of(frame);
  const Py_ssize_t own = PyTuple_GET_SIZE(given.fastlocals);
  const Py_ssize_t depth = PyTuple_GET_SIZE(given.stack);

  for (Py_ssize_t i = 0; i < own; ++i) Py_XSETREF(slots[i], value_or_null(given.fastlocals, i));
  slots += own;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given.closure); ++i)
    Py_XSETREF(slots[i], Py_NewRef(PyTuple_GET_ITEM(given.closure, i)));
  slots += PyTuple_GET_SIZE(given.closure);
  for (Py_ssize_t i = 0; i < depth; ++i) slots[i] = value_or_null(given.stack, i);
  frames::set_stack_depth(frame, depth);

  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given.blocks); ++i) {
    PyObject* block = PyTuple_GET_ITEM(given.blocks, i);
    const auto number = [block](int k) {
      return static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(block, k)));
    };
    frames::set_block(frame, static_cast<int>(i), number(0), number(1) / 2, number(2));
  }
  frames::set_next_unit(frame, given.unit);
}

ObjectPtr make_function(const Continuation& given, PyObject* globals, PyObject* builtins) {
  ObjectPtr function =
      ObjectPtr::steal(checked(PyFunction_New(reinterpret_cast<PyObject*>(given.code), globals)));
  auto* object = reinterpret_cast<PyFunctionObject*>(function.get());
  if (PyTuple_GET_SIZE(given.closure) > 0)
    Py_XSETREF(object->func_closure, Py_NewRef(given.closure));
  if (builtins != Py_None) Py_XSETREF(object->func_builtins, Py_NewRef(builtins));
  return function;
}

/// The names of parameters by keyword only; null without any.
ObjectPtr keyword_names(PyCodeObject* code) {
  if (code->co_kwonlyargcount == 0) return {};
  const Py_ssize_t first = code->co_argcount;
  return ObjectPtr::steal(checked(
      PyTuple_GetSlice(frames::parameter_names(code), first, first + code->co_kwonlyargcount)));
}

PyObject* run(Continuation& given, PyObject* globals, PyObject* builtins) {
  const ObjectPtr function = make_function(given, globals, builtins);
  const ObjectPtr names = keyword_names(given.code);
  const auto positional = static_cast<size_t>(given.code->co_argcount);
  const c10::SmallVector<PyObject*, 16> nothing(
      positional + static_cast<size_t>(given.code->co_kwonlyargcount), Py_None);

  frames::Beginning beginning{reinterpret_cast<PyObject*>(given.code), fill_frame, &given};
  return frames::call_with_beginning(beginning, function.get(), nothing.data(), positional,
                                     names.get());
}

PyObject* resume(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  TORCH_PY_TRY
  Continuation given = parse(args, nargs);
  return run(given, args[2], args[3]);
  TORCH_PY_CATCH(nullptr)
}

// --- Whether it works ---

constexpr const char* kProbe =
    "def probe(numbers):\n  total = 0\n  for number in numbers: total += number\n  return total\n";

/// Resumes a function in its loop: 10 so far, and 1 + 2 + 3 to come.
bool probe() {
  const ObjectPtr globals = ObjectPtr::steal(checked(PyDict_New()));
  check_status(PyDict_SetItemString(globals.get(), "__builtins__", PyEval_GetBuiltins()));
  const ObjectPtr module =
      ObjectPtr::steal(checked(Py_CompileString(kProbe, "<probe>", Py_file_input)));
  ObjectPtr::steal(checked(PyEval_EvalCode(module.get(), globals.get(), globals.get())));
  auto* code = reinterpret_cast<PyCodeObject*>(
      PyFunction_GET_CODE(checked(PyDict_GetItemString(globals.get(), "probe"))));

  const ObjectPtr numbers = ObjectPtr::steal(checked(Py_BuildValue("(iii)", 1, 2, 3)));
  const ObjectPtr iterator = ObjectPtr::steal(checked(PyObject_GetIter(numbers.get())));
  const ObjectPtr locals = ObjectPtr::steal(checked(Py_BuildValue("(OiO)", Py_None, 10, unbound)));
  const ObjectPtr stack = ObjectPtr::steal(checked(PyTuple_Pack(1, iterator.get())));
  const ObjectPtr offset = ObjectPtr::steal(
      checked(PyLong_FromLong(2 * frames::find_unit(reinterpret_cast<PyObject*>(code), FOR_ITER))));

  PyObject* const args[] = {reinterpret_cast<PyObject*>(code),
                            offset.get(),
                            globals.get(),
                            Py_None,
                            Py_None,
                            locals.get(),
                            stack.get()};
  const ObjectPtr total = ObjectPtr::steal(checked(resume(nullptr, args, 7)));
  return PyLong_Check(total.get()) && PyLong_AsLong(total.get()) == 16;
}

PyObject* can_resume(PyObject*, PyObject*) {
  static int known = -1;
  if (known < 0) {
    try {
      known = probe() ? 1 : 0;
    } catch (...) {
      known = 0;
    }
  }
  return PyBool_FromLong(known);
}

/// For each element of `fastlocals`: the variable's name, and whether it is in a cell.
PyObject* frame_slots(PyObject*, PyObject* object) {
  TORCH_PY_TRY
  if (!PyCode_Check(object))
    throw_python(PyExc_TypeError, "frame_slots(): expected code, got %s", type_name(object));
  auto* code = reinterpret_cast<PyCodeObject*>(object);
  const Py_ssize_t count = frames::slot_count(code) - frames::free_count(code);

  ObjectPtr slots = ObjectPtr::steal(checked(PyTuple_New(count)));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyTuple_SET_ITEM(slots.get(), i,
                     checked(Py_BuildValue("(OO)", frames::slot_name(code, i),
                                           frames::is_cell(code, i) ? Py_True : Py_False)));
  }
  return slots.release();
  TORCH_PY_CATCH(nullptr)
}

PyObject* raise_error(PyObject* error, PyObject*, PyObject*) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
  return nullptr;
}

PyMethodDef raise_error_method = {
    "raise_error", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(raise_error)),
    METH_VARARGS | METH_KEYWORDS, nullptr};

PyObject* raiser(PyObject*, PyObject* error) {
  TORCH_PY_TRY
  if (!PyExceptionInstance_Check(error))
    throw_python(PyExc_TypeError, "raiser(): expected an exception, got %s", type_name(error));
  return PyCFunction_New(&raise_error_method, error);
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {
    {"resume", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(resume)), METH_FASTCALL,
     "resume(code, offset, globals, builtins, closure, fastlocals, stack, blocks=()): runs a "
     "function of `code` from the "
     "instruction at `offset` on and returns what it returns. `builtins` and `closure` may be "
     "None. `fastlocals` has a "
     "value for each of frame_slots(code), `stack` those on the stack, the topmost last; UNBOUND "
     "stands for none. "
     "`blocks` (3.10): (type, offset of the handler, level) of each block around, outermost first. "
     "The caller has to "
     "know that the stack fits the instruction."},
    {"can_resume", can_resume, METH_NOARGS,
     "Whether resume() works with this interpreter, which is tried once."},
    {"raiser", raiser, METH_O,
     "raiser(error): a callable that raises an exception without a frame of its own."},
    {"frame_slots", frame_slots, METH_O,
     "frame_slots(code) -> ((name, is in a cell), ...): the variables whose values resume() takes "
     "as `fastlocals`."},
    {nullptr, nullptr, 0, nullptr}};

PyObject* unbound_repr(PyObject*) { return PyUnicode_FromString("UNBOUND"); }

PyTypeObject UnboundType = {PyVarObject_HEAD_INIT(nullptr, 0)};

void add_resume(PyObject* module) {
  UnboundType.tp_name = "torch_py._C._compiler.Unbound";
  UnboundType.tp_doc = "The type of UNBOUND, which stands for a variable without a value.";
  UnboundType.tp_basicsize = sizeof(PyObject);
  UnboundType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  UnboundType.tp_repr = unbound_repr;
  check_status(PyType_Ready(&UnboundType));

  unbound = checked(UnboundType.tp_alloc(&UnboundType, 0));
  check_status(PyModule_AddObjectRef(module, "UNBOUND", unbound));
  check_status(PyModule_AddFunctions(module, functions));
}

const RegisterPart part(add_resume);

}  // namespace

}  // namespace torch::python::compiler
