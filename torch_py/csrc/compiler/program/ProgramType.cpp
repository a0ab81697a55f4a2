// torch_py._C._compiler.Program: a compiled graph as a Python callable.
#include "torch_py/csrc/compiler/program/ProgramType.h"

#include <new>

#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/types/AddType.h"
#include "torch_py/csrc/compiler/program/Graphs.h"
#include "torch_py/csrc/compiler/program/ReadDescription.h"

namespace torch::python {

namespace {

using programs::Arguments;
using programs::Program;

struct ProgramObject {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  std::shared_ptr<const Program> program;
  PyObject* weak_references;
};
PyTypeObject ProgramType = {PyVarObject_HEAD_INIT(nullptr, 0)};

ProgramObject* as_program(PyObject* self) { return reinterpret_cast<ProgramObject*>(self); }

// --- Calls ---

PyObject* call_program(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  TORCH_PY_TRY
  if (kwnames != nullptr && PyTuple_GET_SIZE(kwnames) != 0)
    throw_python(PyExc_TypeError, "a program takes no keyword arguments");

  const std::shared_ptr<const Program> program = as_program(self)->program;
  const Arguments arguments = read_arguments(args, PyVectorcall_NARGS(nargsf), "program");
  return wrap_items(run_program(*program, arguments));
  TORCH_PY_CATCH_PREDICTION(nullptr)
}

// --- The object ---

PyObject* program_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  static const char* names[] = {"num_inputs", "slots",   "steps", "outputs", "constants",
                                "library",    "symbols", "names", "name",    nullptr};
  const ObjectPtr empty = ObjectPtr::steal(checked(PyTuple_New(0)));
  WrittenProgram written{nullptr, nullptr,     nullptr,     nullptr, empty.get(),
                         Py_None, empty.get(), empty.get(), nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOO|OOOOO:Program", const_cast<char**>(names),
                                   &written.inputs, &written.slots, &written.steps,
                                   &written.outputs, &written.constants, &written.library,
                                   &written.symbols, &written.names, &written.name))
    return nullptr;

  auto program = std::make_shared<const Program>(read_description(written));
  PyObject* self = checked(type->tp_alloc(type, 0));
  new (&as_program(self)->program) std::shared_ptr<const Program>(std::move(program));
  as_program(self)->vectorcall = call_program;
  return self;
  TORCH_PY_CATCH(nullptr)
}

void program_dealloc(PyObject* self) {
  if (as_program(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  as_program(self)->program.~shared_ptr();
  Py_TYPE(self)->tp_free(self);
}

PyObject* program_text(PyObject* self) {
  TORCH_PY_TRY
  const std::string text = as_program(self)->program->description().text();
  return checked(PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
  TORCH_PY_CATCH(nullptr)
}

PyObject* program_debug(PyObject* self, PyObject*) { return program_text(self); }

PyMethodDef methods[] = {
    {"debug", program_debug, METH_NOARGS, "debug() -> str: the steps, one a line."},
    {nullptr, nullptr, 0, nullptr}};

constexpr const char* kDocumentation =
    "Program(num_inputs, slots, steps, outputs, constants=(), library=None, symbols=(),\n"
    "        names=(), name='program')\n"
    "\n"
    "A compiled graph: a callable that takes tensors and returns a list of tensors. Slots hold\n"
    "the tensors of a call; inputs have the first numbers, constants follow.\n"
    "\n"
    "A slot is (dtype, sizes, strides, device), or int for an input that is an integer. Wherever "
    "a\n"
    "number is expected, a formula of sizes may stand: a tuple in postfix order,\n"
    "('s0', 1, '+', 2, '//'), whose symbols are dimensions of inputs.\n"
    "\n"
    "Outputs are slots, formulas, which callers get as ints, or None. Steps are tuples:\n"
    "  ('arena_size', bytes): first, if there is an arena\n"
    "  ('allocate', slot)\n"
    "  ('arena', slot, offset): in bytes, a multiple of 64\n"
    "  ('view', slot, of_slot, offset=0): from the first element of of_slot, in elements of slot\n"
    "  ('kernel', name, slots, extent, grain, sizes=(), written=()): written are the inputs, and\n"
    "      views of them, that the kernel changes\n"
    "  ('extern', operator, args, kwargs, results): Slot(n) stands for a tensor; a result is a\n"
    "      slot, None to drop it, or a tuple of slots for a list; () drops all\n"
    "  ('drop', slot)\n"
    "\n"
    "Raises ValueError or TypeError for steps that cannot run, and RuntimeError in a call whose\n"
    "inputs are not as the slots say.";

}  // namespace

bool is_program(PyObject* object) { return Py_TYPE(object) == &ProgramType; }

std::shared_ptr<const Program> program_of(PyObject* object) {
  return is_program(object) ? as_program(object)->program : nullptr;
}

void init_program(PyObject* module) {
  ProgramType.tp_name = "torch_py._C._compiler.Program";
  ProgramType.tp_doc = kDocumentation;
  ProgramType.tp_basicsize = sizeof(ProgramObject);
  ProgramType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL;
  ProgramType.tp_new = program_new;
  ProgramType.tp_dealloc = program_dealloc;
  ProgramType.tp_call = PyVectorcall_Call;
  ProgramType.tp_str = program_text;
  ProgramType.tp_vectorcall_offset = offsetof(ProgramObject, vectorcall);
  ProgramType.tp_weaklistoffset = offsetof(ProgramObject, weak_references);
  ProgramType.tp_methods = methods;
  add_type(module, ProgramType);
}

}  // namespace torch::python
