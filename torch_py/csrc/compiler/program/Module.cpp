// Adds programs to torch_py._C._compiler.
#include "torch_py/csrc/compiler/Module.h"

#include "torch_py/csrc/compiler/program/CompiledGraphType.h"
#include "torch_py/csrc/compiler/program/Graphs.h"
#include "torch_py/csrc/compiler/program/ProgramType.h"
#include "torch_py/csrc/compiler/program/SlotType.h"

namespace torch::python {

namespace {

void add_programs(PyObject* module) {
  init_prediction_error(module);
  init_slot(module);
  init_program(module);
  init_compiled_graph(module);
}

const compiler::RegisterPart part(add_programs);

}  // namespace

}  // namespace torch::python
