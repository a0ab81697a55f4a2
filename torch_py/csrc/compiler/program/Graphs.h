// Graphs that Python names: programs, and any callable.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <memory>

#include "torch_py/csrc/compiler/program/TrainingGraph.h"

namespace torch::python {

/// Runs a program without the GIL if there is much to do: see Note [Releasing the GIL].
programs::Items run_program(const programs::Program& program, const programs::Arguments& arguments);

/// A list of tensors and ints.
PyObject* wrap_items(programs::Items items);
/// Sets the Python exception PredictionError.
void set_prediction_error(const programs::PredictionError& error);
void init_prediction_error(PyObject* module);

/// The arguments of a call, which refer to the tensors of `args`. `what` they are of is for errors.
programs::Arguments read_arguments(PyObject* const* args, Py_ssize_t count, const char* what);

/// The graph behind a Program, or one that calls the object; TypeError if it is not callable. A
/// function with a true attribute `_boxed_call` gets one list, which it may clear.
std::shared_ptr<const programs::Graph> read_graph(PyObject* object);

}  // namespace torch::python

// In the place of TORCH_PY_CATCH where programs run.
#define TORCH_PY_CATCH_PREDICTION(failure)                       \
  }                                                              \
  catch (const ::torch::programs::PredictionError& prediction) { \
    ::torch::python::set_prediction_error(prediction);           \
    return failure;                                              \
    TORCH_PY_CATCH(failure)
