// torch_py._C._compiler.CompiledGraph: a training step as a Python callable.
#include "torch_py/csrc/compiler/program/CompiledGraphType.h"

#include <algorithm>
#include <map>
#include <new>
#include <string_view>

#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/types/AddType.h"
#include "torch_py/csrc/compiler/program/Graphs.h"
#include "torch_py/csrc/compiler/program/ProgramType.h"
#include "torch_py/csrc/compiler/program/PythonFunction.h"

namespace torch::python {

namespace {

using programs::Graph;
using programs::Reshaped;
using programs::SavedUse;
using programs::TrainingGraph;
using programs::Watch;

/// Asks a Python function for each graph once.
class AskedGraphs final : public programs::GraphsOfTangents {
 public:
  explicit AskedGraphs(PyObject* function) : function_(keep_object(function)) {}

  std::shared_ptr<const Graph> graph_for(const std::vector<size_t>& arrived) const override {
    const GilAcquire gil;
    const auto found = known_.find(arrived);
    if (found != known_.end()) return found->second.graph;

    const ObjectPtr made = ask(arrived);
    Known known;
    if (made.get() != Py_None) known = {made.get(), read_graph(made.get())};
    return known_.insert_or_assign(arrived, std::move(known)).first->second.graph;
  }

  /// Visits what only this object owns.
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(static_cast<PyObject*>(function_.get()));
    for (const auto& [arrived, known] : known_)
      if (known.graph.use_count() == 1 && !is_program(known.function)) Py_VISIT(known.function);
    return 0;
  }

 private:
  struct Known {
    PyObject* function = nullptr;  // that the graph owns
    std::shared_ptr<const Graph> graph;
  };

  ObjectPtr ask(const std::vector<size_t>& arrived) const {
    const auto count = static_cast<Py_ssize_t>(arrived.size());
    const ObjectPtr places = ObjectPtr::steal(checked(PyTuple_New(count)));
    for (Py_ssize_t i = 0; i < count; ++i)
      PyTuple_SET_ITEM(places.get(), i, checked(PyLong_FromSize_t(arrived[i])));
    return ObjectPtr::steal(
        checked(PyObject_CallOneArg(static_cast<PyObject*>(function_.get()), places.get())));
  }

  std::shared_ptr<void> function_;
  mutable std::map<std::vector<size_t>, Known> known_;  // with the GIL
};

struct CompiledGraphObject {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  std::shared_ptr<const TrainingGraph> graph;
  PyObject* forward;
  PyObject* backward;
  PyObject* weak_references;
};
PyTypeObject CompiledGraphType = {PyVarObject_HEAD_INIT(nullptr, 0)};

CompiledGraphObject* as_graph(PyObject* self) {
  return reinterpret_cast<CompiledGraphObject*>(self);
}

// --- Metadata ---

size_t read_position(PyObject* object, const char* what) {
  if (!PyLong_Check(object) || PyBool_Check(object))
    throw_python(PyExc_TypeError, "CompiledGraph(): %s must be integers, got %R", what, object);
  const int64_t position = to_int64(object);
  TORCH_CHECK_VALUE(position >= 0, "CompiledGraph(): ", what, " must not be negative, got ",
                    position);
  return static_cast<size_t>(position);
}

std::vector<size_t> read_positions(PyObject* object, const char* what) {
  if (!is_sequence(object))
    throw_python(PyExc_TypeError, "CompiledGraph(): %s must be a list or tuple, got %s", what,
                 type_name(object));
  std::vector<size_t> positions;
  for (Py_ssize_t i = 0; i < sequence_length(object); ++i)
    positions.push_back(read_position(sequence_item(object, i), what));
  return positions;
}

std::vector<std::vector<size_t>> read_lists(PyObject* object, const char* what) {
  if (!is_sequence(object))
    throw_python(PyExc_TypeError, "CompiledGraph(): %s must be a list or tuple, got %s", what,
                 type_name(object));
  std::vector<std::vector<size_t>> lists;
  for (Py_ssize_t i = 0; i < sequence_length(object); ++i)
    lists.push_back(read_positions(sequence_item(object, i), what));
  return lists;
}

SavedUse read_use(PyObject* object) {
  if (!is_sequence(object) || sequence_length(object) != 3)
    throw_python(PyExc_TypeError,
                 "CompiledGraph(): each of uses must be a tuple of saved values, tangents and "
                 "gradients, got %R",
                 object);
  return {read_positions(sequence_item(object, 0), "uses"),
          read_positions(sequence_item(object, 1), "uses"),
          read_positions(sequence_item(object, 2), "uses")};
}

std::vector<SavedUse> read_uses(PyObject* object) {
  if (!is_sequence(object))
    throw_python(PyExc_TypeError, "CompiledGraph(): uses must be a list or tuple, got %s",
                 type_name(object));
  std::vector<SavedUse> uses;
  for (Py_ssize_t i = 0; i < sequence_length(object); ++i)
    uses.push_back(read_use(sequence_item(object, i)));
  return uses;
}

Watch read_watch(PyObject* object) {
  if (!is_sequence(object) || sequence_length(object) != 4)
    throw_python(PyExc_TypeError,
                 "CompiledGraph(): each of watches must be a tuple of whether it is an input, its "
                 "position, writes and tangents, got %R",
                 object);
  return {to_bool(sequence_item(object, 0)), read_position(sequence_item(object, 1), "watches"),
          read_position(sequence_item(object, 2), "watches"),
          read_positions(sequence_item(object, 3), "watches")};
}

std::vector<Watch> read_watches(PyObject* object) {
  if (!is_sequence(object))
    throw_python(PyExc_TypeError, "CompiledGraph(): watches must be a list or tuple, got %s",
                 type_name(object));
  std::vector<Watch> watches;
  for (Py_ssize_t i = 0; i < sequence_length(object); ++i)
    watches.push_back(read_watch(sequence_item(object, i)));
  return watches;
}

std::vector<Reshaped> read_reshaped(PyObject* object) {
  std::vector<Reshaped> reshaped;
  for (const std::vector<size_t>& pair : read_lists(object, "reshaped")) {
    TORCH_CHECK_VALUE(pair.size() == 2,
                      "CompiledGraph(): each of reshaped must be the position of "
                      "an input and a count, got ",
                      pair.size(), " numbers");
    reshaped.push_back({pair[0], pair[1]});
  }
  return reshaped;
}

std::shared_ptr<const AskedGraphs> read_partial(PyObject* object) {
  if (object == Py_None) return nullptr;
  if (!PyCallable_Check(object))
    throw_python(PyExc_TypeError, "CompiledGraph(): partial must be a function or None, got %s",
                 type_name(object));
  return std::make_shared<AskedGraphs>(object);
}

void read_field(TrainingGraph& graph, std::string_view name, PyObject* value) {
  if (name == "num_outputs") return void(graph.num_outputs = read_position(value, "num_outputs"));
  if (name == "tangents") return void(graph.tangents = read_positions(value, "tangents"));
  if (name == "differentiated")
    return void(graph.differentiated = read_positions(value, "differentiated"));
  if (name == "reached") return void(graph.reached = read_lists(value, "reached"));
  if (name == "uses") return void(graph.uses = read_uses(value));
  if (name == "watches") return void(graph.watches = read_watches(value));
  if (name == "reshaped") return void(graph.reshaped = read_reshaped(value));
  if (name == "materialize") return void(graph.materializes = to_bool(value));
  if (name == "raises") return void(graph.raises = to_bool(value));
  if (name == "name") return void(graph.name = to_string_view(value));
  if (name == "partial") return void(graph.partial = read_partial(value));

  throw_python(PyExc_ValueError,
               "CompiledGraph(): unknown metadata '%s'; there are num_outputs, tangents, "
               "differentiated, reached, uses, watches, reshaped, materialize, raises, partial and "
               "name",
               std::string(name).c_str());
}

void check_uses(const TrainingGraph& graph) {
  for (const SavedUse& use : graph.uses) {
    for (const size_t place : use.tangents) {
      TORCH_CHECK_VALUE(place < graph.tangents.size(), "CompiledGraph(): uses name tangent ", place,
                        ", but there are ", graph.tangents.size());
    }
    for (const size_t place : use.gradients) {
      TORCH_CHECK_VALUE(place < graph.differentiated.size(), "CompiledGraph(): uses name gradient ",
                        place, ", but there are ", graph.differentiated.size());
    }
  }
}

void check_watches(const TrainingGraph& graph) {
  for (const Watch& watch : graph.watches) {
    TORCH_CHECK_VALUE(watch.is_input || watch.position < graph.num_outputs,
                      "CompiledGraph(): watches name output ", watch.position, ", but there are ",
                      graph.num_outputs);
    for (const size_t place : watch.tangents) {
      TORCH_CHECK_VALUE(place < graph.tangents.size(), "CompiledGraph(): watches name tangent ",
                        place, ", but there are ", graph.tangents.size());
    }
  }
}

void check(const TrainingGraph& graph) {
  check_uses(graph);
  check_watches(graph);

  for (const size_t tangent : graph.tangents) {
    TORCH_CHECK_VALUE(tangent < graph.num_outputs, "CompiledGraph(): tangents name output ",
                      tangent, ", but there are ", graph.num_outputs);
  }

  const bool is_complete =
      graph.reached.empty() || graph.reached.size() == graph.differentiated.size();
  TORCH_CHECK_VALUE(is_complete, "CompiledGraph(): there are ", graph.differentiated.size(),
                    " gradients, but reached has ", graph.reached.size());
  for (const std::vector<size_t>& sources : graph.reached) {
    for (const size_t place : sources) {
      TORCH_CHECK_VALUE(place < graph.tangents.size(), "CompiledGraph(): reached names tangent ",
                        place, ", but there are ", graph.tangents.size());
    }
  }
}

std::shared_ptr<const TrainingGraph> read_training_graph(PyObject* forward, PyObject* backward,
                                                         PyObject* metadata) {
  auto graph = std::make_shared<TrainingGraph>();
  graph->forward = read_graph(forward);
  graph->backward = read_graph(backward);

  PyObject* name = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(metadata, &position, &name, &value)) {
    if (!PyUnicode_Check(name))
      throw_python(PyExc_TypeError, "CompiledGraph(): keys of metadata must be str, got %R", name);
    read_field(*graph, to_string_view(name), value);
  }
  check(*graph);
  return graph;
}

// --- The object ---

PyObject* call_graph(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  TORCH_PY_TRY
  if (kwnames != nullptr && PyTuple_GET_SIZE(kwnames) != 0)
    throw_python(PyExc_TypeError, "a compiled graph takes no keyword arguments");
  const std::shared_ptr<const TrainingGraph> graph = as_graph(self)->graph;
  const programs::Arguments inputs =
      read_arguments(args, PyVectorcall_NARGS(nargsf), "compiled graph");
  return wrap_items(programs::run_training_graph(graph, inputs));
  TORCH_PY_CATCH_PREDICTION(nullptr)
}

PyObject* graph_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  static const char* names[] = {"forward", "backward", "metadata", nullptr};
  PyObject* forward = nullptr;
  PyObject* backward = nullptr;
  PyObject* metadata = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO!:CompiledGraph", const_cast<char**>(names),
                                   &forward, &backward, &PyDict_Type, &metadata))
    return nullptr;

  auto graph = read_training_graph(forward, backward, metadata);
  PyObject* self = checked(type->tp_alloc(type, 0));
  new (&as_graph(self)->graph) std::shared_ptr<const TrainingGraph>(std::move(graph));
  as_graph(self)->vectorcall = call_graph;
  as_graph(self)->forward = Py_NewRef(forward);
  as_graph(self)->backward = Py_NewRef(backward);
  return self;
  TORCH_PY_CATCH(nullptr)
}

int graph_clear(PyObject* self) {
  as_graph(self)->graph.reset();
  Py_CLEAR(as_graph(self)->forward);
  Py_CLEAR(as_graph(self)->backward);
  return 0;
}

int graph_traverse(PyObject* self, visitproc visit, void* arg) {
  const CompiledGraphObject* graph = as_graph(self);
  Py_VISIT(graph->forward);
  Py_VISIT(graph->backward);

  // The graph owns functions a second time, and so do the nodes that own it.
  if (graph->graph.use_count() != 1) return 0;
  if (!is_program(graph->forward)) Py_VISIT(graph->forward);
  if (!is_program(graph->backward)) Py_VISIT(graph->backward);
  if (graph->graph->partial != nullptr && graph->graph->partial.use_count() == 1)
    return static_cast<const AskedGraphs&>(*graph->graph->partial).traverse(visit, arg);
  return 0;
}

void graph_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (as_graph(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  graph_clear(self);
  as_graph(self)->graph.~shared_ptr();
  Py_TYPE(self)->tp_free(self);
}

PyObject* get_forward(PyObject* self, void*) { return Py_NewRef(as_graph(self)->forward); }
PyObject* get_backward(PyObject* self, void*) { return Py_NewRef(as_graph(self)->backward); }

PyGetSetDef properties[] = {
    {"forward", get_forward, nullptr, "What runs in a call.", nullptr},
    {"backward", get_backward, nullptr, "What runs in its backward.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

constexpr const char* kDocumentation =
    "CompiledGraph(forward, backward, metadata)\n"
    "\n"
    "A training step: a callable of tensors whose results have one node of autograd as their\n"
    "history. Forward and backward are Programs, or functions of tensors (and ints) that return\n"
    "a list; neither is recorded. A function with _boxed_call = True gets one list instead, which\n"
    "it may clear.\n"
    "\n"
    "Metadata:\n"
    "  num_outputs: how many results of forward the caller gets; backward gets the others, saved\n"
    "      (tensors through saved_tensors_hooks, with a check of their versions), and then\n"
    "  tangents: the gradients of these outputs; the other outputs do not require grad\n"
    "  differentiated: the inputs whose gradients backward returns\n"
    "  reached: for each gradient the places in `tangents` that it is computed from; it is None "
    "if\n"
    "      none of them arrives (default: always computed)\n"
    "  uses: what saved values are used for, as (their places, places in `tangents`, places in\n"
    "      `differentiated`): if one of these tangents arrives and one of these gradients is "
    "wanted.\n"
    "      They are kept until no further pass can come (default: each pass uses all)\n"
    "  watches: what must not be changed in place before backward, although it does not get it, "
    "as\n"
    "      (whether it is an input, its position, how often the caller changes it as part of the\n"
    "      program, places in `tangents`): an error if one of these tangents arrives\n"
    "  reshaped: inputs whose shape the caller changes after forward, as part of the program, as\n"
    "      (position, how often); backward gets them with the shape that they had\n"
    "  materialize: whether an output without gradient has zeros rather than None (default: True)\n"
    "  raises: whether backward is an error, and runs also if no gradient is wanted (default: "
    "False)\n"
    "  partial: a function of the places in `tangents` of those outputs that have a gradient, "
    "called\n"
    "      where others have none. It returns what runs instead of backward, without the "
    "gradients\n"
    "      of these, or None for backward itself (default: None)\n"
    "  name: of the node (default: CompiledFunctionBackward)\n"
    "\n"
    "Gradients arrive with the strides of their output if that is dense. Differentiating backward\n"
    "raises RuntimeError.";

}  // namespace

void init_compiled_graph(PyObject* module) {
  CompiledGraphType.tp_name = "torch_py._C._compiler.CompiledGraph";
  CompiledGraphType.tp_doc = kDocumentation;
  CompiledGraphType.tp_basicsize = sizeof(CompiledGraphObject);
  CompiledGraphType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL;
  CompiledGraphType.tp_new = graph_new;
  CompiledGraphType.tp_dealloc = graph_dealloc;
  CompiledGraphType.tp_traverse = graph_traverse;
  CompiledGraphType.tp_clear = graph_clear;
  CompiledGraphType.tp_call = PyVectorcall_Call;
  CompiledGraphType.tp_vectorcall_offset = offsetof(CompiledGraphObject, vectorcall);
  CompiledGraphType.tp_weaklistoffset = offsetof(CompiledGraphObject, weak_references);
  CompiledGraphType.tp_getset = properties;
  add_type(module, CompiledGraphType);
}

}  // namespace torch::python
