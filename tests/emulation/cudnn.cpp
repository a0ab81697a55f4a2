// Emulated cuDNN: checks descriptors as the library does, and convolves on the host.
#include "c10/cuda/libraries/Cudnn.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulation/libraries.h"
#include "emulation/queue.h"
#include "tests/emulation/convolution.h"

namespace c10::cuda::cudnn {

struct HandleObject {
  cudaStream_t stream = nullptr;
};

/// The elements of an attribute.
struct Elements {
  Type type;
  std::vector<char> bytes;
  int64_t count;
};

/// What a tensor's descriptor says once it is finalized.
struct TensorDescription {
  DataType type;
  int64_t id;
  int64_t alignment;
  bool is_virtual;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

/// What the descriptor of an operation says, and all that is made from it.
struct Operation {
  emulation::EmulatedConvolution convolution;
  TensorDescription image;
  TensorDescription weight;
  TensorDescription result;
  std::optional<TensorDescription> bias{};  // added to the sums
};

/// The addition of a bias.
struct Addition {
  TensorDescription sums;
  TensorDescription bias;
  TensorDescription result;
};

struct DescriptorObject {
  Kind kind;
  bool is_finalized = false;
  std::map<Attribute, Elements> attributes{};
  std::optional<Operation> operation{};  // of operations, graphs, heuristics, engines and plans
  std::optional<Addition> addition{};    // of the operation that adds a bias
  int engine = -1;                       // of engines, their configurations and plans
};

}  // namespace c10::cuda::cudnn

namespace emulation {

namespace {

using namespace c10::cuda::cudnn;

constexpr Status kBadParameter = 2000;
constexpr Status kNotFinalized = 2004;
constexpr Status kShapeMismatch = 2008;
constexpr Status kDuplicates = 2009;
constexpr Status kWrongType = 2010;
constexpr Status kNotSupported = 3000;
constexpr Status kExecutionFailed = 5000;

constexpr size_t kVersion = 91002;
constexpr int64_t kWorkspace = 4096;

thread_local std::string last_problem;

Status refused(Status status, std::string problem) {
  last_problem = std::move(problem);
  return status;
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

// --- Attributes ---

struct Rule {
  Kind kind;
  Attribute attribute;
  Type type;
  bool is_list = false;
};

constexpr Rule kRules[] = {
    {Kind::Tensor, Attribute::TensorDataType, Type::DataType},
    {Kind::Tensor, Attribute::TensorAlignment, Type::Int64},
    {Kind::Tensor, Attribute::TensorUniqueId, Type::Int64},
    {Kind::Tensor, Attribute::TensorIsVirtual, Type::Boolean},
    {Kind::Tensor, Attribute::TensorDimensions, Type::Int64, true},
    {Kind::Tensor, Attribute::TensorStrides, Type::Int64, true},

    {Kind::Convolution, Attribute::ConvolutionComputeType, Type::DataType},
    {Kind::Convolution, Attribute::ConvolutionMode, Type::ConvolutionMode},
    {Kind::Convolution, Attribute::ConvolutionSpatialDims, Type::Int64},
    {Kind::Convolution, Attribute::ConvolutionStrides, Type::Int64, true},
    {Kind::Convolution, Attribute::ConvolutionDilations, Type::Int64, true},
    {Kind::Convolution, Attribute::ConvolutionPaddingsBefore, Type::Int64, true},
    {Kind::Convolution, Attribute::ConvolutionPaddingsAfter, Type::Int64, true},

    {Kind::Forward, Attribute::ForwardConvolution, Type::Descriptor},
    {Kind::Forward, Attribute::ForwardX, Type::Descriptor},
    {Kind::Forward, Attribute::ForwardW, Type::Descriptor},
    {Kind::Forward, Attribute::ForwardY, Type::Descriptor},
    {Kind::BackwardData, Attribute::BackwardDataConvolution, Type::Descriptor},
    {Kind::BackwardData, Attribute::BackwardDataDx, Type::Descriptor},
    {Kind::BackwardData, Attribute::BackwardDataW, Type::Descriptor},
    {Kind::BackwardData, Attribute::BackwardDataDy, Type::Descriptor},
    {Kind::BackwardFilter, Attribute::BackwardFilterConvolution, Type::Descriptor},
    {Kind::BackwardFilter, Attribute::BackwardFilterX, Type::Descriptor},
    {Kind::BackwardFilter, Attribute::BackwardFilterDw, Type::Descriptor},
    {Kind::BackwardFilter, Attribute::BackwardFilterDy, Type::Descriptor},

    {Kind::Pointwise, Attribute::PointwiseMode, Type::PointwiseMode},
    {Kind::Pointwise, Attribute::PointwisePrecision, Type::DataType},
    {Kind::PointwiseOperation, Attribute::PointwiseOperationPointwise, Type::Descriptor},
    {Kind::PointwiseOperation, Attribute::PointwiseOperationX, Type::Descriptor},
    {Kind::PointwiseOperation, Attribute::PointwiseOperationB, Type::Descriptor},
    {Kind::PointwiseOperation, Attribute::PointwiseOperationY, Type::Descriptor},

    {Kind::Graph, Attribute::GraphHandle, Type::Handle},
    {Kind::Graph, Attribute::GraphOperations, Type::Descriptor, true},
    {Kind::EngineHeuristic, Attribute::HeuristicGraph, Type::Descriptor},
    {Kind::EngineHeuristic, Attribute::HeuristicMode, Type::HeuristicMode},
    {Kind::Plan, Attribute::PlanHandle, Type::Handle},
    {Kind::Plan, Attribute::PlanConfiguration, Type::Descriptor},
    {Kind::VariantPack, Attribute::PackUniqueIds, Type::Int64, true},
    {Kind::VariantPack, Attribute::PackPointers, Type::Pointer, true},
    {Kind::VariantPack, Attribute::PackWorkspace, Type::Pointer},
};

/// The attributes that scale an operation's sums and its former result.
bool is_scale(Kind kind, Attribute attribute) {
  switch (kind) {
    case Kind::Forward:
      return attribute == Attribute::ForwardAlpha || attribute == Attribute::ForwardBeta;
    case Kind::BackwardData:
      return attribute == Attribute::BackwardDataAlpha || attribute == Attribute::BackwardDataBeta;
    case Kind::BackwardFilter:
      return attribute == Attribute::BackwardFilterAlpha ||
             attribute == Attribute::BackwardFilterBeta;
    default: return false;
  }
}

size_t bytes_of(Type type) {
  switch (type) {
    case Type::Handle:
    case Type::Pointer:
    case Type::Descriptor: return sizeof(void*);
    case Type::Int64:
    case Type::Double: return 8;
    case Type::Boolean: return 1;
    default: return 4;
  }
}

Status set_attribute(Descriptor d, Attribute attribute, Type type, int64_t count,
                     const void* elements) {
  const std::string name = "attribute " + std::to_string(static_cast<int>(attribute));
  if (d->is_finalized) return refused(kBadParameter, name + " is set after finalizing");
  if (count < 1 || elements == nullptr) return refused(kBadParameter, name + " has no elements");

  if (is_scale(d->kind, attribute)) {
    if (count != 1 || (type != Type::Float && type != Type::Double))
      return refused(kWrongType, name + " is one float or double");
  } else {
    const Rule* const rule = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) {
      return r.kind == d->kind && r.attribute == attribute;
    });
    if (rule == std::end(kRules)) return refused(kBadParameter, name + " is of another descriptor");
    if (type != rule->type) return refused(kWrongType, name + " has another type");
    if (count != 1 && !rule->is_list) return refused(kBadParameter, name + " is one element");
  }

  const auto* const bytes = static_cast<const char*>(elements);
  d->attributes[attribute] = {
      type, {bytes, bytes + bytes_of(type) * static_cast<size_t>(count)}, count};
  return kSuccess;
}

/// Thrown while a descriptor is finalized.
struct Problem {
  Status status;
  std::string text;
};

template <class T>
std::vector<T> list_of(const DescriptorObject& d, Attribute attribute) {
  const auto found = d.attributes.find(attribute);
  if (found == d.attributes.end())
    throw Problem{kBadParameter,
                  "attribute " + std::to_string(static_cast<int>(attribute)) + " is not set"};
  std::vector<T> list(static_cast<size_t>(found->second.count));
  std::memcpy(list.data(), found->second.bytes.data(), found->second.bytes.size());
  return list;
}

template <class T>
T one_of(const DescriptorObject& d, Attribute attribute) {
  return list_of<T>(d, attribute)[0];
}

const DescriptorObject& part_of(const DescriptorObject& d, Attribute attribute, Kind kind) {
  const auto part = one_of<Descriptor>(d, attribute);
  if (part == nullptr || part->kind != kind)
    throw Problem{kBadParameter, "a part is another kind of descriptor"};
  if (!part->is_finalized) throw Problem{kNotFinalized, "a part is not finalized"};
  return *part;
}

void require(bool condition, Status status, const char* text) {
  if (!condition) throw Problem{status, text};
}

// --- Finalizing ---

bool are_dense(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
               bool channels_last) {
  std::vector<size_t> order;  // from the innermost dimension
  if (channels_last) order.push_back(1);
  for (size_t d = sizes.size() - 1; d >= 2; --d) order.push_back(d);
  if (!channels_last) order.push_back(1);
  order.push_back(0);

  int64_t stride = 1;
  for (const size_t d : order) {
    if (strides[d] != stride) return false;
    stride *= sizes[d];
  }
  return true;
}

TensorDescription tensor_of(const DescriptorObject& d) {
  TensorDescription t{one_of<DataType>(d, Attribute::TensorDataType),
                      one_of<int64_t>(d, Attribute::TensorUniqueId),
                      one_of<int64_t>(d, Attribute::TensorAlignment),
                      d.attributes.contains(Attribute::TensorIsVirtual) &&
                          one_of<char>(d, Attribute::TensorIsVirtual) != 0,
                      list_of<int64_t>(d, Attribute::TensorDimensions),
                      list_of<int64_t>(d, Attribute::TensorStrides)};

  require(t.sizes.size() >= 3 && t.sizes.size() <= 5, kNotSupported, "3 to 5 dimensions");
  require(t.sizes.size() == t.strides.size(), kShapeMismatch, "a stride for each dimension");
  require(std::all_of(t.sizes.begin(), t.sizes.end(), [](int64_t size) { return size > 0; }),
          kBadParameter, "sizes are positive");
  require(are_dense(t.sizes, t.strides, false) || are_dense(t.sizes, t.strides, true),
          kNotSupported, "tensors are dense");
  require(t.alignment > 0 && (t.alignment & (t.alignment - 1)) == 0, kBadParameter,
          "alignments are powers of two");
  return t;
}

void check_convolution(const DescriptorObject& d) {
  const auto spatial = one_of<int64_t>(d, Attribute::ConvolutionSpatialDims);
  require(spatial == 2 || spatial == 3, kNotSupported, "two or three spatial dimensions");
  one_of<DataType>(d, Attribute::ConvolutionComputeType);
  require(one_of<ConvolutionMode>(d, Attribute::ConvolutionMode) ==
              ConvolutionMode::CrossCorrelation,
          kNotSupported, "filters are not turned around");

  const auto check_list = [&](Attribute attribute, int64_t least) {
    const auto list = list_of<int64_t>(d, attribute);
    require(static_cast<int64_t>(list.size()) == spatial, kShapeMismatch,
            "a number for each spatial dimension");
    for (const int64_t number : list) require(number >= least, kBadParameter, "a number is low");
  };
  check_list(Attribute::ConvolutionStrides, 1);
  check_list(Attribute::ConvolutionDilations, 1);
  check_list(Attribute::ConvolutionPaddingsBefore, 0);
  check_list(Attribute::ConvolutionPaddingsAfter, 0);
  require(list_of<int64_t>(d, Attribute::ConvolutionPaddingsBefore) ==
              list_of<int64_t>(d, Attribute::ConvolutionPaddingsAfter),
          kNotSupported, "padding is symmetric");
}

ConvolutionOperand operand_of(const TensorDescription& t) {
  ConvolutionOperand operand;
  for (size_t i = 0; i < t.sizes.size(); ++i) {
    const size_t d = i < 2 ? i : i + 5 - t.sizes.size();
    operand.sizes[d] = t.sizes[i];
    operand.strides[d] = t.strides[i];
  }
  return operand;
}

std::array<int64_t, 3> spatial_of(const DescriptorObject& d, Attribute attribute, int64_t missing) {
  std::array<int64_t, 3> numbers{missing, missing, missing};
  const auto list = list_of<int64_t>(d, attribute);
  std::copy(list.rbegin(), list.rend(), numbers.rbegin());
  return numbers;
}

void check_sizes(const EmulatedConvolution& c) {
  require(c.image.sizes[0] == c.result.sizes[0], kShapeMismatch, "batches differ");
  require(c.image.sizes[1] % c.weight.sizes[1] == 0, kShapeMismatch,
          "channels are not whole groups");
  require(c.weight.sizes[0] == c.result.sizes[1] && c.weight.sizes[0] % c.groups == 0,
          kShapeMismatch, "outputs differ");
  for (int d = 0; d < 3; ++d) {
    const int64_t window = c.dilations[d] * (c.weight.sizes[d + 2] - 1) + 1;
    const int64_t room = c.image.sizes[d + 2] + 2 * c.paddings[d] - window;
    require(room >= 0 && room / c.strides[d] + 1 == c.result.sizes[d + 2], kShapeMismatch,
            "the result has another size");
  }
}

/// The names of an operation's attributes.
struct OperationNames {
  Attribute alpha, beta, convolution, image, weight, result;
};

OperationNames names_of(Kind kind) {
  using enum Attribute;
  if (kind == Kind::Forward)
    return {ForwardAlpha, ForwardBeta, ForwardConvolution, ForwardX, ForwardW, ForwardY};
  if (kind == Kind::BackwardData)
    return {BackwardDataAlpha, BackwardDataBeta, BackwardDataConvolution,
            BackwardDataDx,    BackwardDataW,    BackwardDataDy};
  return {BackwardFilterAlpha, BackwardFilterBeta, BackwardFilterConvolution,
          BackwardFilterX,     BackwardFilterDw,   BackwardFilterDy};
}

template <class T>
void check_scales(const DescriptorObject& d, const OperationNames& names, Type type) {
  for (const Attribute attribute : {names.alpha, names.beta}) {
    one_of<T>(d, attribute);
    require(d.attributes.at(attribute).type == type, kWrongType, "scales have the type of sums");
  }
  require(one_of<T>(d, names.alpha) == T(1) && one_of<T>(d, names.beta) == T(0), kNotSupported,
          "never asked for");
}

Operation operation_of(const DescriptorObject& d) {
  const OperationNames names = names_of(d.kind);
  const DescriptorObject& convolution = part_of(d, names.convolution, Kind::Convolution);
  Operation o{{},
              tensor_of(part_of(d, names.image, Kind::Tensor)),
              tensor_of(part_of(d, names.weight, Kind::Tensor)),
              tensor_of(part_of(d, names.result, Kind::Tensor))};
  const TensorDescription* const tensors[] = {&o.image, &o.weight, &o.result};
  const auto spatial = one_of<int64_t>(convolution, Attribute::ConvolutionSpatialDims);
  const auto follow = [&](bool channels_last) {
    return std::all_of(std::begin(tensors), std::end(tensors), [&](const TensorDescription* t) {
      return are_dense(t->sizes, t->strides, channels_last);
    });
  };
  for (const TensorDescription* t : tensors) {
    const DataType type = t->is_virtual
                              ? one_of<DataType>(convolution, Attribute::ConvolutionComputeType)
                              : o.image.type;
    require(t->type == type, kNotSupported, "dtypes differ");
    require(static_cast<int64_t>(t->sizes.size()) == spatial + 2, kShapeMismatch,
            "tensors have two dimensions more than the convolution");
  }
  require(follow(false) || follow(true), kNotSupported, "memory formats differ");
  require(o.image.id != o.weight.id && o.image.id != o.result.id && o.weight.id != o.result.id,
          kDuplicates, "identifiers are unique");

  const bool is_double = o.image.type == DataType::Double;
  require(one_of<DataType>(convolution, Attribute::ConvolutionComputeType) ==
              (is_double ? DataType::Double : DataType::Float),
          kNotSupported, "sums are float, or double for doubles");
  if (is_double) check_scales<double>(d, names, Type::Double);
  else check_scales<float>(d, names, Type::Float);

  EmulatedConvolution& c = o.convolution;
  c.type = o.image.type;
  c.pass = d.kind;
  c.image = operand_of(o.image);
  c.weight = operand_of(o.weight);
  c.result = operand_of(o.result);
  c.strides = spatial_of(convolution, Attribute::ConvolutionStrides, 1);
  c.paddings = spatial_of(convolution, Attribute::ConvolutionPaddingsBefore, 0);
  c.dilations = spatial_of(convolution, Attribute::ConvolutionDilations, 1);
  c.groups = c.image.sizes[1] / c.weight.sizes[1];
  check_sizes(c);
  return o;
}

Addition addition_of(const DescriptorObject& d) {
  const DescriptorObject& function =
      part_of(d, Attribute::PointwiseOperationPointwise, Kind::Pointwise);
  require(one_of<PointwiseMode>(function, Attribute::PointwiseMode) == PointwiseMode::Add,
          kNotSupported, "only additions");
  Addition a{tensor_of(part_of(d, Attribute::PointwiseOperationX, Kind::Tensor)),
             tensor_of(part_of(d, Attribute::PointwiseOperationB, Kind::Tensor)),
             tensor_of(part_of(d, Attribute::PointwiseOperationY, Kind::Tensor))};

  require(a.sums.type == one_of<DataType>(function, Attribute::PointwisePrecision), kNotSupported,
          "numbers are added as they were summed");
  require(a.sums.sizes == a.result.sizes, kShapeMismatch, "the sizes of sums and results differ");
  std::vector<int64_t> per_channel(a.sums.sizes.size(), 1);
  per_channel[1] = a.sums.sizes[1];
  require(a.bias.sizes == per_channel, kShapeMismatch, "a bias has an element for each channel");
  require(a.bias.type == a.result.type && a.bias.id != a.result.id, kNotSupported,
          "a bias is another tensor of the result's dtype");
  return a;
}

/// The operations of a graph in one: a convolution, and perhaps the addition of a bias.
Operation joined(const DescriptorObject& graph) {
  const auto parts = list_of<Descriptor>(graph, Attribute::GraphOperations);
  for (const Descriptor part : parts)
    require(part->is_finalized, kNotFinalized, "an operation is not finalized");
  require(parts[0]->operation.has_value() && parts.size() <= 2, kNotSupported, "other operations");

  Operation o = *parts[0]->operation;
  if (parts.size() == 1) {
    require(!o.result.is_virtual, kBadParameter, "the result is nowhere");
    return o;
  }
  require(parts[1]->addition.has_value(), kNotSupported, "other operations");
  const Addition& a = *parts[1]->addition;
  require(o.convolution.pass == Kind::Forward && o.result.is_virtual && a.sums.id == o.result.id &&
              !a.result.is_virtual && a.result.strides == o.result.strides,
          kNotSupported, "sums of forward passes alone get a bias");
  require(a.result.type == o.image.type && a.bias.id != o.image.id && a.bias.id != o.weight.id,
          kNotSupported, "tensors are not those of the convolution");
  o.result = a.result;
  o.bias = a.bias;
  return o;
}

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

void finalize_parts(DescriptorObject& d) {
  switch (d.kind) {
    case Kind::Tensor: tensor_of(d); break;
    case Kind::Convolution: check_convolution(d); break;
    case Kind::Forward:
    case Kind::BackwardData:
    case Kind::BackwardFilter: d.operation = operation_of(d); break;

    case Kind::PointwiseOperation: d.addition = addition_of(d); break;
    case Kind::Pointwise:
      one_of<PointwiseMode>(d, Attribute::PointwiseMode);
      one_of<DataType>(d, Attribute::PointwisePrecision);
      break;
    case Kind::Graph:
      require(one_of<Handle>(d, Attribute::GraphHandle) != nullptr, kBadParameter, "no handle");
      d.operation = joined(d);
      break;

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
  if (d->is_finalized) return refused(kBadParameter, "finalized twice");
  try {
    finalize_parts(*d);
  } catch (const Problem& problem) {
    return refused(problem.status, problem.text);
  }
  d->is_finalized = true;
  return kSuccess;
}

// --- Asking ---

/// Fills the descriptors that a program has made for the answer.
Status fill(const DescriptorObject& d, Kind kind, const std::vector<int>& found, int64_t wanted,
            int64_t* count, void* elements) {
  *count = static_cast<int64_t>(found.size());
  auto* const places = static_cast<Descriptor*>(elements);
  for (int64_t i = 0; i < std::min(wanted, *count); ++i) {
    if (places[i] == nullptr || places[i]->kind != kind)
      return refused(kBadParameter, "results need descriptors of their kind");
    places[i]->is_finalized = true;
    places[i]->operation = d.operation;
    places[i]->engine = found[i];
  }
  return kSuccess;
}

std::vector<int> proposals(const DescriptorObject& heuristic) {
  if (refusal == Refusal::Proposals || !is_known(heuristic.operation->convolution)) return {};
  // The mode for people with more time knows no other engines.
  std::vector<int> all(engines().size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  return all;
}

Status get_attribute(Descriptor d, Attribute attribute, Type type, int64_t wanted, int64_t* count,
                     void* elements) {
  if (!d->is_finalized) return refused(kNotFinalized, "asked before it is finalized");

  if (d->kind == Kind::EngineHeuristic && attribute == Attribute::HeuristicResults &&
      type == Type::Descriptor)
    return fill(*d, Kind::EngineConfiguration, proposals(*d), wanted, count, elements);
  if (d->kind == Kind::EngineConfiguration && attribute == Attribute::ConfigurationEngine &&
      type == Type::Descriptor)
    return fill(*d, Kind::Engine, {d->engine}, wanted, count, elements);

  if (d->kind == Kind::Engine && attribute == Attribute::EngineNumericalNotes &&
      type == Type::NumericalNote) {
    const std::vector<Note>& notes = engines()[d->engine].notes;
    *count = static_cast<int64_t>(notes.size());
    std::copy_n(notes.begin(), std::min(wanted, *count), static_cast<Note*>(elements));
    return kSuccess;
  }
  if (d->kind == Kind::Plan && attribute == Attribute::PlanWorkspaceSize && type == Type::Int64 &&
      wanted == 1) {
    *count = 1;
    *static_cast<int64_t*>(elements) = engines()[d->engine].workspace;
    return kSuccess;
  }
  return refused(kBadParameter, "such an attribute cannot be asked for");
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
  try {
    execute_checked(handle, *plan, *pack);
  } catch (const Problem& problem) {
    return refused(problem.status, problem.text);
  }
  return kSuccess;
}

Status create(Handle* handle) {
  try {
    load_something();
  } catch (const Problem& problem) {
    return refused(problem.status, problem.text);
  }
  *handle = new HandleObject;
  return kSuccess;
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

std::span<const NamedFunction> cudnn_functions() {
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
  emulation::refusal = static_cast<emulation::Refusal>(what);
}

/// A function of the emulated library, or null, for tests of its checks.
__attribute__((visibility("default"))) void* torch_py_emulation_library_function(const char* name) {
  return emulation::library_function(name);
}

/// The engine that ran last, by its place in the list above; -1 at first.
__attribute__((visibility("default"))) int torch_py_emulation_last_engine() {
  return emulation::last_engine;
}
}
