// Describes convolutions to cuDNN and chooses among the engines that it proposes.
#include "aten/native/cuda/CudnnPlan.h"

#include <algorithm>
#include <utility>

#include "c10/util/Exception.h"

namespace at::native::cuda {

namespace cudnn = c10::cuda::cudnn;

namespace {

using cudnn::Attribute;
using cudnn::Kind;
using cudnn::Note;
using cudnn::OwnedDescriptor;

constexpr int64_t kImage = 1;  // unique identifiers of the tensors
constexpr int64_t kWeight = 2;
constexpr int64_t kResult = 3;
constexpr int64_t kBias = 4;
constexpr int64_t kSums = 5;  // before the bias is added

/// Twice what columns may need: the best engines for weights' gradients ask for several hundred
/// megabytes.
constexpr int64_t kMostWorkspace = int64_t{1} << 30;

cudnn::DataType data_type_of(ScalarType dtype) {
  switch (dtype) {
    case kFloat: return cudnn::DataType::Float;
    case kDouble: return cudnn::DataType::Double;
    case kHalf: return cudnn::DataType::Half;
    case kBFloat16: return cudnn::DataType::BFloat16;
    default: TORCH_CHECK_NOT_IMPLEMENTED(false, "convolutions of ", dtype, " by cuDNN");
  }
}

DimVector dense_strides(const DimVector& sizes, bool channels_last) {
  DimVector strides(sizes.size(), 1);
  int64_t stride = channels_last ? sizes[1] : 1;
  for (size_t d = sizes.size() - 1; d >= 2; --d) {
    strides[d] = stride;
    stride *= sizes[d];
  }
  strides[1] = channels_last ? 1 : stride;
  strides[0] = channels_last ? stride : stride * sizes[1];
  return strides;
}

/// A tensor that is not finalized.
OwnedDescriptor open_tensor(const CudnnProblem& p, int64_t id, const DimVector& sizes,
                            cudnn::DataType type) {
  const DimVector strides = dense_strides(sizes, p.channels_last);

  OwnedDescriptor tensor(Kind::Tensor);
  tensor.set(Attribute::TensorDataType, type);
  tensor.set(Attribute::TensorDimensions, sizes.data(), sizes.size());
  tensor.set(Attribute::TensorStrides, strides.data(), strides.size());
  tensor.set(Attribute::TensorUniqueId, id);
  tensor.set(Attribute::TensorAlignment, p.alignment);
  return tensor;
}

OwnedDescriptor tensor_of(const CudnnProblem& p, int64_t id, const DimVector& sizes) {
  OwnedDescriptor tensor = open_tensor(p, id, sizes, data_type_of(p.dtype));
  tensor.finalize();
  return tensor;
}

/// The type of sums.
cudnn::DataType sum_type_of(const CudnnProblem& p) {
  return p.dtype == kDouble ? cudnn::DataType::Double : cudnn::DataType::Float;
}

/// Sums that are nowhere in memory.
OwnedDescriptor virtual_sums(const CudnnProblem& p) {
  OwnedDescriptor sums = open_tensor(p, kSums, p.result_sizes(), sum_type_of(p));
  sums.set(Attribute::TensorIsVirtual, true);
  sums.finalize();
  return sums;
}

/// cuDNN computes the size of the result from the stride, also where there is a single window.
DimVector strides_of(const CudnnProblem& p) {
  const ConvolutionGeometry& g = p.geometry;
  DimVector strides = p.last_of(g.stride);
  for (int i = 0; i < p.spatial; ++i) {
    const int d = 3 - p.spatial + i;
    const int64_t window = g.dilation[d] * (g.kernel[d] - 1) + 1;
    if (g.output[d] == 1) strides[i] = g.input[d] + 2 * g.padding[d] - window + 1;
  }
  return strides;
}

OwnedDescriptor convolution_of(const CudnnProblem& p) {
  const DimVector strides = strides_of(p);
  const DimVector padding = p.last_of(p.geometry.padding);
  const DimVector dilations = p.last_of(p.geometry.dilation);

  OwnedDescriptor convolution(Kind::Convolution);
  convolution.set(Attribute::ConvolutionSpatialDims, static_cast<int64_t>(p.spatial));
  convolution.set(Attribute::ConvolutionComputeType, sum_type_of(p));
  convolution.set(Attribute::ConvolutionMode, cudnn::ConvolutionMode::CrossCorrelation);
  convolution.set(Attribute::ConvolutionDilations, dilations.data(), dilations.size());
  convolution.set(Attribute::ConvolutionStrides, strides.data(), strides.size());
  convolution.set(Attribute::ConvolutionPaddingsBefore, padding.data(), padding.size());
  convolution.set(Attribute::ConvolutionPaddingsAfter, padding.data(), padding.size());
  convolution.finalize();
  return convolution;
}

/// What the descriptor of an operation and its attributes are called.
struct OperationNames {
  Kind kind;
  Attribute alpha, beta, convolution, image, weight, result;
};

OperationNames names_of(ConvolutionPass pass) {
  using enum Attribute;
  switch (pass) {
    case ConvolutionPass::Forward:
      return {Kind::Forward, ForwardAlpha, ForwardBeta, ForwardConvolution,
              ForwardX,      ForwardW,     ForwardY};

    case ConvolutionPass::ImageGradient:
      return {Kind::BackwardData, BackwardDataAlpha, BackwardDataBeta, BackwardDataConvolution,
              BackwardDataDx,     BackwardDataW,     BackwardDataDy};

    default:
      return {Kind::BackwardFilter,      BackwardFilterAlpha, BackwardFilterBeta,
              BackwardFilterConvolution, BackwardFilterX,     BackwardFilterDw,
              BackwardFilterDy};
  }
}

/// Whether an engine with these notes computes as exactly as the problem asks for.
bool is_exact_enough(const CudnnProblem& p, const std::vector<Note>& notes) {
  const auto has = [&](Note note) {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  };
  if (has(Note::ReducedPrecisionReduction) || has(Note::DownConvertInputs)) return false;
  if (has(Note::WinogradTile6x6) || has(Note::WinogradTile13x13)) return false;
  if (p.deterministic && has(Note::Nondeterministic)) return false;
  return p.dtype != kFloat || p.tf32 || !has(Note::TensorCore);
}

std::vector<Note> notes_of(const OwnedDescriptor& configuration) {
  const std::vector<OwnedDescriptor> engine =
      configuration.descriptors(Attribute::ConfigurationEngine, Kind::Engine, 1);
  if (engine.empty()) return {};
  return engine[0].values<Note>(Attribute::EngineNumericalNotes, cudnn::kMostNotes);
}

/// The plans for a problem as they are collected, and what became of the other proposals.
class Selection {
 public:
  Selection(const CudnnProblem& problem, size_t most)
      : problem_(problem), most_(most), graph_(std::make_shared<const CudnnGraph>(problem)) {}

  void add(cudnn::HeuristicMode mode) {
    if (plans_.size() >= most_) return;
    try {
      for (OwnedDescriptor& configuration : graph_->configurations(mode)) {
        ++proposed_;
        add(std::move(configuration));
        if (plans_.size() >= most_) return;
      }
    } catch (const c10::Error& error) {
      refusal_ = error.message();
    }
  }

  std::vector<std::shared_ptr<const CudnnPlan>> plans() && { return std::move(plans_); }

  std::string text() const {
    return std::to_string(proposed_) + " engines, of which " + std::to_string(inexact_) +
           " are not exact enough, " + std::to_string(large_) + " need too much memory and " +
           std::to_string(refused_) + " refuse" + (refusal_.empty() ? "" : ": " + refusal_);
  }

 private:
  void add(OwnedDescriptor configuration) {
    try {
      if (!is_exact_enough(problem_, notes_of(configuration))) {
        ++inexact_;
        return;
      }
      auto plan = std::make_shared<const CudnnPlan>(graph_, std::move(configuration));
      if (plan->workspace() <= static_cast<size_t>(kMostWorkspace)) plans_.push_back(plan);
      else ++large_;
    } catch (const c10::Error& error) {
      ++refused_;
      refusal_ = error.message();
    }
  }

  const CudnnProblem& problem_;
  size_t most_;
  std::shared_ptr<const CudnnGraph> graph_;
  std::vector<std::shared_ptr<const CudnnPlan>> plans_;
  int proposed_ = 0;
  int inexact_ = 0;
  int large_ = 0;
  int refused_ = 0;
  std::string refusal_;
};

}  // namespace

CudnnGraph::CudnnGraph(const CudnnProblem& p) : graph_(Kind::Graph) {
  std::vector<cudnn::Descriptor> operations;
  if (p.adds_bias) {
    const cudnn::Descriptor sums = keep(virtual_sums(p));
    operations = {convolve(p, sums), add_bias(p, sums)};
  } else {
    operations = {convolve(p, keep(tensor_of(p, kResult, p.result_sizes())))};
  }

  graph_.set(Attribute::GraphHandle, cudnn::handle());
  graph_.set(Attribute::GraphOperations, operations.data(), operations.size());
  graph_.finalize();
}

cudnn::Descriptor CudnnGraph::keep(OwnedDescriptor part) {
  parts_.push_back(std::move(part));
  return parts_.back().get();
}

cudnn::Descriptor CudnnGraph::convolve(const CudnnProblem& p, cudnn::Descriptor result) {
  const OperationNames names = names_of(p.pass);
  OwnedDescriptor operation(names.kind);
  const auto scale_by = [&](auto alpha, auto beta) {
    operation.set(names.alpha, alpha);
    operation.set(names.beta, beta);
  };
  if (p.dtype == kDouble) scale_by(1.0, 0.0);
  else scale_by(1.0f, 0.0f);
  operation.set(names.convolution, keep(convolution_of(p)));
  operation.set(names.image, keep(tensor_of(p, kImage, p.image_sizes())));
  operation.set(names.weight, keep(tensor_of(p, kWeight, p.weight_sizes())));
  operation.set(names.result, result);
  operation.finalize();
  return keep(std::move(operation));
}

cudnn::Descriptor CudnnGraph::add_bias(const CudnnProblem& p, cudnn::Descriptor sums) {
  DimVector bias_sizes(static_cast<size_t>(p.spatial) + 2, 1);
  bias_sizes[1] = p.geometry.outputs;

  OwnedDescriptor addition(Kind::Pointwise);
  addition.set(Attribute::PointwiseMode, cudnn::PointwiseMode::Add);
  addition.set(Attribute::PointwisePrecision, sum_type_of(p));
  addition.finalize();

  OwnedDescriptor operation(Kind::PointwiseOperation);
  operation.set(Attribute::PointwiseOperationPointwise, keep(std::move(addition)));
  operation.set(Attribute::PointwiseOperationX, sums);
  operation.set(Attribute::PointwiseOperationB, keep(tensor_of(p, kBias, bias_sizes)));
  operation.set(Attribute::PointwiseOperationY, keep(tensor_of(p, kResult, p.result_sizes())));
  operation.finalize();
  return keep(std::move(operation));
}

std::vector<OwnedDescriptor> CudnnGraph::configurations(cudnn::HeuristicMode mode) const {
  OwnedDescriptor heuristic(Kind::EngineHeuristic);
  heuristic.set(Attribute::HeuristicGraph, graph_.get());
  heuristic.set(Attribute::HeuristicMode, mode);
  heuristic.finalize();

  const int64_t count = heuristic.count(Attribute::HeuristicResults, cudnn::Type::Descriptor);
  return heuristic.descriptors(Attribute::HeuristicResults, Kind::EngineConfiguration, count);
}

CudnnPlan::CudnnPlan(std::shared_ptr<const CudnnGraph> graph, OwnedDescriptor configuration)
    : graph_(std::move(graph)), configuration_(std::move(configuration)), plan_(Kind::Plan) {
  plan_.set(Attribute::PlanHandle, cudnn::handle());
  plan_.set(Attribute::PlanConfiguration, configuration_.get());
  plan_.finalize();
  workspace_ = static_cast<size_t>(plan_.value<int64_t>(Attribute::PlanWorkspaceSize));
}

void CudnnPlan::execute(const ConvolutionAddresses& addresses, void* workspace) const {
  const int64_t ids[] = {kImage, kWeight, kResult, kBias};
  void* const pointers[] = {addresses.image, addresses.weight, addresses.result, addresses.bias};
  const size_t count = addresses.bias == nullptr ? 3 : 4;

  OwnedDescriptor pack(Kind::VariantPack);
  pack.set(Attribute::PackUniqueIds, ids, count);
  pack.set(Attribute::PackPointers, pointers, count);
  pack.set(Attribute::PackWorkspace, workspace);
  pack.finalize();
  cudnn::check(cudnn::functions()->execute(cudnn::handle(), plan_.get(), pack.get()),
               "cudnnBackendExecute");
}

std::vector<std::shared_ptr<const CudnnPlan>> make_plans(const CudnnProblem& problem, size_t most,
                                                         std::string& why) {
  Selection selection(problem, most);
  selection.add(cudnn::HeuristicMode::A);
  selection.add(cudnn::HeuristicMode::B);
  why = selection.text();
  return std::move(selection).plans();
}

}  // namespace at::native::cuda
