// Emulated cuDNN: proposes engines and convolves on the host, after it has checked descriptors.
#include "tests/emulation/cudnn.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <utility>

#include "emulation/libraries.h"
#include "emulation/queue.h"

namespace emulation {

namespace cudnn {

namespace {

constexpr size_t kVersion = 91002;
constexpr int64_t kWorkspace = 4096;

thread_local std::string last_problem;

/// The status of a call that f makes.
template <class F>
Status guarded(const F& f) {
  try {
    f();
  } catch (const Problem& problem) {
    last_problem = problem.text;
    return problem.status;
  }
  return kSuccess;
}

// --- Engines ---

/// An engine, which not every program wants or can have.
struct Engine {
  bool is_available;
  int64_t workspace;
  OperandRounding rounding;  // of float32
  std::vector<Note> notes;
};

/// In the order in which heuristics propose them.
const std::vector<Engine>& engines() {
  static const std::vector<Engine> all = {
      {false, 0, OperandRounding::None, {}},
      {true, 0, OperandRounding::BFloat16, {Note::DownConvertInputs, Note::TensorCore}},
      {true, 0, OperandRounding::BFloat16, {Note::ReducedPrecisionReduction}},
      {true, 0, OperandRounding::Tf32, {Note::TensorCore, Note::Nondeterministic}},
      {true, 0, OperandRounding::Tf32, {Note::TensorCore}},
      {true, kWorkspace, OperandRounding::None, {Note::Nondeterministic}},
      {true, int64_t{1} << 40, OperandRounding::None, {}},
      {true, kWorkspace, OperandRounding::None, {}},
  };
  return all;
}

/// Set by tests, see the end of this file.
enum class Refusal : int { None, Proposals, Executions };
std::atomic<Refusal> refusal = Refusal::None;
std::atomic<int> last_engine = -1;

/// As the library has gaps, so has this one.
bool is_known(const EmulatedConvolution& c) {
  const bool is_dilated_volume = c.image.sizes[2] > 1 && c.dilations[0] > 1;
  return !(is_dilated_volume && c.pass == Kind::BackwardFilter);
}

// --- Descriptors ---

/// Engines are loaded onto the device, which is not possible while a graph is recorded.
void load_something() {
  void* memory = nullptr;
  require(cudaMalloc(&memory, 256) == cudaSuccess, kExecutionFailed, "no memory on the device");
  cudaFree(memory);
}

void finalize_plan(DescriptorObject& d) {
  require(one_of<Handle>(d, Attribute::PlanHandle) != nullptr, kBadParameter, "no handle");
  const DescriptorObject& configuration =
      part_of(d, Attribute::PlanConfiguration, Kind::EngineConfiguration);
  d.engine = configuration.engine;
  d.operation = configuration.operation;
  require(engines()[d.engine].is_available, kNotSupported, "the engine is for another GPU");
  load_something();
}

void check_pack(const DescriptorObject& d) {
  auto ids = list_of<int64_t>(d, Attribute::PackUniqueIds);
  require(ids.size() == list_of<void*>(d, Attribute::PackPointers).size(), kShapeMismatch,
          "a pointer for each identifier");
  one_of<void*>(d, Attribute::PackWorkspace);
  std::sort(ids.begin(), ids.end());
  require(std::adjacent_find(ids.begin(), ids.end()) == ids.end(), kDuplicates,
          "identifiers are unique");
}

void finalize_other(DescriptorObject& d) {
  switch (d.kind) {
    case Kind::EngineHeuristic:
      one_of<HeuristicMode>(d, Attribute::HeuristicMode);
      d.operation = part_of(d, Attribute::HeuristicGraph, Kind::Graph).operation;
      break;
    case Kind::Plan: finalize_plan(d); break;
    case Kind::VariantPack: check_pack(d); break;
    default: throw Problem{kNotSupported, "programs do not finalize this descriptor"};
  }
}

Status finalize(Descriptor d) {
  return guarded([&] {
    require(!d->is_finalized, kBadParameter, "finalized twice");
    if (!finalize_part_of_graph(*d)) finalize_other(*d);
    d->is_finalized = true;
  });
}

Status set_attribute(Descriptor d, Attribute attribute, Type type, int64_t count,
                     const void* elements) {
  return guarded([&] { set_checked(*d, attribute, type, count, elements); });
}

// --- Asking ---

/// Fills the descriptors that a program has made for the answer.
void fill(const DescriptorObject& d, Kind kind, const std::vector<int>& found, int64_t wanted,
          int64_t* count, void* elements) {
  *count = static_cast<int64_t>(found.size());
  auto* const places = static_cast<Descriptor*>(elements);
  for (int64_t i = 0; i < std::min(wanted, *count); ++i) {
    require(places[i] != nullptr && places[i]->kind == kind, kBadParameter,
            "results need descriptors of their kind");
    places[i]->is_finalized = true;
    places[i]->operation = d.operation;
    places[i]->engine = found[i];
  }
}

std::vector<int> proposals(const DescriptorObject& heuristic) {
  if (refusal == Refusal::Proposals || !is_known(heuristic.operation->convolution)) return {};
  // The mode for people with more time knows no other engines.
  std::vector<int> all(engines().size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  return all;
}

void get_checked(const DescriptorObject& d, Attribute attribute, Type type, int64_t wanted,
                 int64_t* count, void* elements) {
  const auto asks_for = [&](Kind kind, Attribute what, Type elements_type) {
    return d.kind == kind && attribute == what && type == elements_type;
  };
  require(d.is_finalized, kNotFinalized, "asked before it is finalized");

  if (asks_for(Kind::EngineHeuristic, Attribute::HeuristicResults, Type::Descriptor))
    return fill(d, Kind::EngineConfiguration, proposals(d), wanted, count, elements);
  if (asks_for(Kind::EngineConfiguration, Attribute::ConfigurationEngine, Type::Descriptor))
    return fill(d, Kind::Engine, {d.engine}, wanted, count, elements);

  if (asks_for(Kind::Engine, Attribute::EngineNumericalNotes, Type::NumericalNote)) {
    const std::vector<Note>& notes = engines()[d.engine].notes;
    *count = static_cast<int64_t>(notes.size());
    std::copy_n(notes.begin(), std::min(wanted, *count), static_cast<Note*>(elements));
    return;
  }
  require(asks_for(Kind::Plan, Attribute::PlanWorkspaceSize, Type::Int64) && wanted == 1,
          kBadParameter, "such an attribute cannot be asked for");
  *count = 1;
  *static_cast<int64_t*>(elements) = engines()[d.engine].workspace;
}

Status get_attribute(Descriptor d, Attribute attribute, Type type, int64_t wanted, int64_t* count,
                     void* elements) {
  return guarded([&] { get_checked(*d, attribute, type, wanted, count, elements); });
}

// --- Running ---

/// The address of a tensor in a pack.
void* address_in(const DescriptorObject& pack, const TensorDescription& tensor) {
  const auto ids = list_of<int64_t>(pack, Attribute::PackUniqueIds);
  const auto place = std::find(ids.begin(), ids.end(), tensor.id);
  require(place != ids.end(), kBadParameter, "other tensors than the plan has");

  void* const address = list_of<void*>(pack, Attribute::PackPointers)[place - ids.begin()];
  require(address != nullptr && reinterpret_cast<uintptr_t>(address) % tensor.alignment == 0,
          kBadParameter, "an address is not aligned");
  return address;
}

void execute_checked(Handle handle, const DescriptorObject& plan, const DescriptorObject& pack) {
  require(handle != nullptr && plan.kind == Kind::Plan && pack.kind == Kind::VariantPack,
          kBadParameter, "other descriptors are needed");
  require(plan.is_finalized && pack.is_finalized, kNotFinalized, "not finalized");
  require(refusal != Refusal::Executions, kExecutionFailed, "refused for a test");

  const Engine& engine = engines()[plan.engine];
  const Operation& o = *plan.operation;
  const size_t count = o.bias.has_value() ? 4 : 3;
  require(list_of<int64_t>(pack, Attribute::PackUniqueIds).size() == count, kBadParameter,
          "other tensors than the plan has");
  void* addresses[] = {address_in(pack, o.image), address_in(pack, o.weight),
                       address_in(pack, o.result),
                       o.bias.has_value() ? address_in(pack, *o.bias) : nullptr,
                       one_of<void*>(pack, Attribute::PackWorkspace)};
  require(engine.workspace == 0 || addresses[4] != nullptr, kBadParameter, "no workspace");
  for (void*& address : addresses) readable_argument(&address, sizeof(address));

  EmulatedConvolution convolution = o.convolution;
  if (convolution.type == DataType::Float || engine.rounding == OperandRounding::BFloat16)
    convolution.rounding = engine.rounding;
  const cudaError_t status = enqueue(handle->stream, "cudnnBackendExecute", [=, &engine] {
    if (engine.workspace > 0)
      std::memset(addresses[4], 0xAB, static_cast<size_t>(engine.workspace));
    convolve_on_host(convolution, addresses[0], addresses[1], addresses[2], addresses[3]);
  });
  require(status == cudaSuccess, kExecutionFailed, "the stream refuses work");
  last_engine = plan.engine;
}

Status execute(Handle handle, Descriptor plan, Descriptor pack) {
  return guarded([&] { execute_checked(handle, *plan, *pack); });
}

Status create(Handle* handle) {
  return guarded([&] {
    load_something();
    *handle = new HandleObject;
  });
}

Status set_stream(Handle handle, cudaStream_t stream) {
  handle->stream = stream;
  return kSuccess;
}

Status create_descriptor(Kind kind, Descriptor* descriptor) {
  *descriptor = new DescriptorObject{kind};
  return kSuccess;
}

Status destroy_descriptor(Descriptor descriptor) {
  delete descriptor;
  return kSuccess;
}

size_t version() { return kVersion; }

const char* error_string(Status status) {
  switch (status) {
    case kSuccess: return "CUDNN_STATUS_SUCCESS";
    case kBadParameter: return "CUDNN_STATUS_BAD_PARAM";
    case kNotFinalized: return "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED";
    case kShapeMismatch: return "CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH";
    case kDuplicates: return "CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES";
    case kWrongType: return "CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE";
    case kNotSupported: return "CUDNN_STATUS_NOT_SUPPORTED";
    default: return "CUDNN_STATUS_EXECUTION_FAILED";
  }
}

void last_error_string(char* message, size_t size) {
  std::snprintf(message, size, "%s", last_problem.c_str());
}

}  // namespace

}  // namespace cudnn

std::span<const NamedFunction> cudnn_functions() {
  using namespace cudnn;
  static const NamedFunction functions[] = {
      {"cudnnGetVersion", address_of(version)},
      {"cudnnGetErrorString", address_of(error_string)},
      {"cudnnGetLastErrorString", address_of(last_error_string)},
      {"cudnnCreate", address_of(create)},
      {"cudnnSetStream", address_of(set_stream)},

      {"cudnnBackendCreateDescriptor", address_of(create_descriptor)},
      {"cudnnBackendDestroyDescriptor", address_of(destroy_descriptor)},
      {"cudnnBackendSetAttribute", address_of(set_attribute)},
      {"cudnnBackendGetAttribute", address_of(get_attribute)},
      {"cudnnBackendFinalize", address_of(finalize)},
      {"cudnnBackendExecute", address_of(execute)},
  };
  return functions;
}

}  // namespace emulation

extern "C" {

/// For tests, by ctypes: 1: no engines are proposed, 2: no plan can be executed, 0: as it was.
__attribute__((visibility("default"))) void torch_py_emulation_refuse_convolutions(int what) {
  emulation::cudnn::refusal = static_cast<emulation::cudnn::Refusal>(what);
}

/// A function of the emulated library, or null, for tests of its checks.
__attribute__((visibility("default"))) void* torch_py_emulation_library_function(const char* name) {
  return emulation::library_function(name);
}

/// The engine that ran last, by its place in the list above; -1 at first.
__attribute__((visibility("default"))) int torch_py_emulation_last_engine() {
  return emulation::cudnn::last_engine;
}
}
