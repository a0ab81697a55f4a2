// Graphs of cuDNN for convolutions, and the plans that it makes for them.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "aten/native/cuda/CudnnProblem.h"
#include "c10/cuda/libraries/CudnnDescriptor.h"

namespace at::native::cuda {

/// Where the tensors of a problem are.
struct ConvolutionAddresses {
  void* image = nullptr;
  void* weight = nullptr;
  void* result = nullptr;
  void* bias = nullptr;  // null without one
};

/// The descriptors of a problem's graph: a convolution, and perhaps the addition of a bias.
class CudnnGraph {
 public:
  explicit CudnnGraph(const CudnnProblem& problem);

  /// Descriptors of engines with their settings, the best first.
  std::vector<c10::cuda::cudnn::OwnedDescriptor>
  configurations(c10::cuda::cudnn::HeuristicMode mode) const;

 private:
  /// Keeps a part of the graph, after it is finalized, as long as the graph.
  c10::cuda::cudnn::Descriptor keep(c10::cuda::cudnn::OwnedDescriptor part);
  /// Describes the pass, of which `result` is the third tensor.
  c10::cuda::cudnn::Descriptor convolve(const CudnnProblem& problem,
                                        c10::cuda::cudnn::Descriptor result);
  /// Describes the addition of the bias to `sums`.
  c10::cuda::cudnn::Descriptor add_bias(const CudnnProblem& problem,
                                        c10::cuda::cudnn::Descriptor sums);

  std::vector<c10::cuda::cudnn::OwnedDescriptor> parts_;
  c10::cuda::cudnn::OwnedDescriptor graph_;
};

/// A way to compute a problem, for the thread that made it.
class CudnnPlan {
 public:
  /// Throws c10::Error if the engine cannot compute the problem after all.
  CudnnPlan(std::shared_ptr<const CudnnGraph> graph,
            c10::cuda::cudnn::OwnedDescriptor configuration);

  size_t workspace() const { return workspace_; }
  /// Puts the work into the current stream; throws c10::Error if cuDNN refuses.
  void execute(const ConvolutionAddresses& addresses, void* workspace) const;

 private:
  std::shared_ptr<const CudnnGraph> graph_;
  c10::cuda::cudnn::OwnedDescriptor configuration_;
  c10::cuda::cudnn::OwnedDescriptor plan_;
  size_t workspace_ = 0;
};

/// At most `most` plans, the best first, that compute as exactly as the problem asks for. Without
/// any, `why` says what became of cuDNN's proposals.
std::vector<std::shared_ptr<const CudnnPlan>> make_plans(const CudnnProblem& problem, size_t most,
                                                         std::string& why);

}  // namespace at::native::cuda
