// nll_loss and its gradient on the CPU: each target selects one element of the input.
#include <algorithm>
#include <cstring>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/native/declarations/cpu/nn/LossKernel.isa.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/to.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

constexpr int64_t kNone = 0;
constexpr int64_t kMean = 1;

/// Targets that one thread sums up. The number is fixed, so that results do not depend on the
/// number of threads.
constexpr int64_t kPiece = 8192;

/// The input as (batch, classes, inner) in contiguous order; (classes) and (batch, classes) are
/// special cases.
struct Extent {
  int64_t batch = 1, classes = 1, inner = 1;
};

Extent extent_of(IntArrayRef sizes) {
  Extent extent;
  extent.classes = sizes[sizes.size() == 1 ? 0 : 1];
  if (sizes.size() > 1) extent.batch = sizes[0];
  for (size_t d = 2; d < sizes.size(); ++d) extent.inner *= sizes[d];
  return extent;
}

/// The classes of the targets and their weights. A class number is checked when it is used.
template <typename scalar_t>
class Targets {
 public:
  Targets(const Extent& extent, const Tensor& target, const Tensor& weight, int64_t ignore_index)
      : extent_(extent),
        target_(target.to(kLong).contiguous()),
        weight_(weight.defined() ? weight.contiguous() : weight),
        classes_(target_.const_data_ptr<int64_t>()),
        weights_(weight.defined() ? weight_.template const_data_ptr<scalar_t>() : nullptr),
        ignore_index_(ignore_index) {}

  int64_t count() const { return extent_.batch * extent_.inner; }

  /// Calls f(index of the element, weight) unless target i is ignored.
  template <typename F>
  void visit(int64_t i, const F& f) const {
    const int64_t number = classes_[i];
    if (number == ignore_index_) return;

    TORCH_CHECK_INDEX(number >= 0 && number < extent_.classes, "Target ", number,
                      " is out of bounds.");
    const int64_t element =
        (i / extent_.inner * extent_.classes + number) * extent_.inner + i % extent_.inner;
    f(element, weights_ == nullptr ? opmath_type<scalar_t>(1)
                                   : static_cast<opmath_type<scalar_t>>(weights_[number]));
  }

 private:
  Extent extent_;
  Tensor target_, weight_;
  const int64_t* classes_;
  const scalar_t* weights_;
  int64_t ignore_index_;
};

struct Sums {
  double loss = 0, weight = 0;
};

/// Sums the losses of all targets, and calls each(i, loss) for every single one.
template <typename scalar_t, typename Each>
Sums sum_losses(const Targets<scalar_t>& targets, const scalar_t* in, const Each& each) {
  const int64_t pieces = (targets.count() + kPiece - 1) / kPiece;
  std::vector<Sums> sums(pieces);
  parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * kPiece; i < std::min(targets.count(), end * kPiece); ++i) {
      opmath_type<scalar_t> loss = 0, total = 0;
      targets.visit(i, [&](int64_t element, opmath_type<scalar_t> weight) {
        loss = -weight * static_cast<opmath_type<scalar_t>>(in[element]);
        total = weight;
      });

      each(i, loss);
      sums[i / kPiece].loss += loss;
      sums[i / kPiece].weight += total;
    }
  });

  Sums all;
  for (const Sums& piece : sums) {
    all.loss += piece.loss;
    all.weight += piece.weight;
  }
  return all;
}

}  // namespace

void nll_loss_forward_kernel(const Tensor& self, const Tensor& target, const Tensor& weight,
                             int64_t reduction, int64_t ignore_index, const Tensor& out0,
                             const Tensor& out1) {
  const Tensor input = self.contiguous();

  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "nll_loss", [&] {
    const Targets<scalar_t> targets(extent_of(self.sizes()), target, weight, ignore_index);
    const scalar_t* in = input.const_data_ptr<scalar_t>();
    scalar_t* out = out0.data_ptr<scalar_t>();
    const bool keep = reduction == kNone;
    const Sums sums = sum_losses(targets, in, [out, keep](int64_t i, opmath_type<scalar_t> loss) {
      if (keep) out[i] = static_cast<scalar_t>(loss);
    });

    *out1.data_ptr<scalar_t>() =
        static_cast<scalar_t>(static_cast<opmath_type<scalar_t>>(sums.weight));

    if (!keep)
      *out = static_cast<scalar_t>(static_cast<opmath_type<scalar_t>>(
          reduction == kMean ? sums.loss / sums.weight : sums.loss));
  });
}

void nll_loss_backward_kernel(const Tensor& grad_output, IntArrayRef sizes, const Tensor& target,
                              const Tensor& weight, int64_t reduction, int64_t ignore_index,
                              const Tensor& total_weight, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const Tensor grads = grad_output.contiguous();
  std::memset(out0.data(), 0, out0.numel() * out0.itemsize());
  AT_DISPATCH_FLOATING_AND_REDUCED(out0.scalar_type(), "nll_loss_backward", [&] {
    using acc_t = opmath_type<scalar_t>;
    const Targets<scalar_t> targets(extent_of(sizes), target, weight, ignore_index);

    const scalar_t* grad = grads.const_data_ptr<scalar_t>();
    const acc_t divisor = reduction == kMean
                              ? static_cast<acc_t>(*total_weight.const_data_ptr<scalar_t>())
                              : acc_t(1);
    scalar_t* out = out0.data_ptr<scalar_t>();

    parallel_for(0, targets.count(), kPiece, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        targets.visit(i, [&](int64_t element, acc_t w) {
          out[element] = static_cast<scalar_t>(
              -w * static_cast<acc_t>(grad[reduction == kNone ? i : 0]) / divisor);
        });
      }
    });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
