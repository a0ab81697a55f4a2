// nll_loss and its gradient: each target selects one element of the input.
#include "aten/Dispatch.h"
#include "aten/core/Tensor.h"
#include "aten/native/cuda/Rows.cuh"
#include "aten/native/cuda/WideDivisor.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/to.h"

namespace at::native::cuda {

namespace {

constexpr int64_t kNone = 0;
constexpr int64_t kMean = 1;

/// Targets that one block sums up. The number is fixed, and so is the order of additions.
constexpr int64_t kPiece = 4096;
constexpr int kThreads = 256;

/// Arguments of the operators, as reports count them.
constexpr int kTargetOfForward = 1;
constexpr int kTargetOfBackward = 2;

/// The input as (batch, classes, inner) in contiguous order; (classes) and (batch, classes) are
/// special cases.
struct Extent {
  int64_t batch = 1, classes = 1, inner = 1;

  explicit Extent(IntArrayRef sizes) : classes(sizes[sizes.size() == 1 ? 0 : 1]) {
    if (sizes.size() > 1) batch = sizes[0];
    for (size_t d = 2; d < sizes.size(); ++d) inner *= sizes[d];
  }
  int64_t targets() const { return batch * inner; }
};

/// The classes of the targets and their weights.
template <class T>
struct Targets {
  using Acc = opmath_type<T>;

  const int64_t* classes;
  const T* weights;  // null if all are 1
  int64_t ignore_index;
  int64_t count;  // of classes

  /// Whether a target selects an element. A class number out of range is ignored.
  SIMT_DEVICE bool selects(int64_t number) const {
    return number != ignore_index && number >= 0 && number < count;
  }
  SIMT_DEVICE Acc weight(int64_t number) const {
    return weights == nullptr ? Acc(1) : static_cast<Acc>(weights[number]);
  }
  SIMT_DEVICE void check(const simt::Reporter& reporter, int argument, int64_t number) const {
    if (number != ignore_index && (number < 0 || number >= count))
      simt::report(reporter, c10::cuda::ReportKind::LabelRange, argument, number, count);
  }
};

/// Sums the losses and weights of a piece in double, and stores the losses unless `losses` is null.
template <class T>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kThreads)
    nll_loss_kernel(Targets<T> targets, const T* in, WideDivisor inner, int64_t count, T* losses,
                    TwoSums<double>* pieces, simt::Reporter reporter) {
  using Acc = opmath_type<T>;
  const int64_t begin = int64_t{simt::block_x()} * kPiece;
  const int64_t end = begin + kPiece < count ? begin + kPiece : count;

  TwoSums<double> sums{0, 0};
  for (int64_t i = begin + simt::thread_x(); i < end; i += kThreads) {
    const int64_t number = targets.classes[i];
    targets.check(reporter, kTargetOfForward, number);

    Acc loss = 0;
    if (targets.selects(number)) {
      const int64_t sample = inner.quotient(i);
      const int64_t place = i - sample * inner.value();
      const int64_t element = (sample * targets.count + number) * inner.value() + place;
      const Acc weight = targets.weight(number);
      loss = -weight * static_cast<Acc>(in[element]);
      sums.first += loss;
      sums.second += weight;
    }
    if (losses != nullptr) losses[i] = static_cast<T>(loss);
  }

  RowThreads threads;
  sums = threads.combine(sums, TwoSums<double>{0, 0}, Added());
  if (threads.leads()) pieces[simt::block_x()] = sums;
}

/// The total of all pieces; `loss` may be null.
template <class T>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kThreads)
    nll_loss_total_kernel(const TwoSums<double>* pieces, int64_t count, bool is_mean, T* loss,
                          T* total_weight) {
  using Acc = opmath_type<T>;
  TwoSums<double> sums{0, 0};
  for (int64_t k = simt::thread_x(); k < count; k += kThreads) sums = sums + pieces[k];

  RowThreads threads;
  sums = threads.combine(sums, TwoSums<double>{0, 0}, Added());
  if (!threads.leads()) return;

  *total_weight = static_cast<T>(static_cast<Acc>(sums.second));
  if (loss != nullptr)
    *loss = static_cast<T>(static_cast<Acc>(is_mean ? sums.first / sums.second : sums.first));
}

/// Writes every element of the gradient: 0 except at the targets.
template <class T>
struct NllLossGradient {
  using Acc = opmath_type<T>;

  Targets<T> targets;
  const T* grad;
  bool has_grads;         // one for each target
  const T* total_weight;  // null unless the loss is a mean
  T* out;

  SIMT_DEVICE T at(int64_t target, int64_t number) const {
    const Acc divisor = total_weight == nullptr ? Acc(1) : static_cast<Acc>(*total_weight);
    const Acc incoming = static_cast<Acc>(grad[has_grads ? target : 0]);
    return static_cast<T>(-targets.weight(number) * incoming / divisor);
  }
};

template <int width, class T>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kThreads)
    nll_loss_gradient_kernel(NllLossGradient<T> gradient, WideDivisor inner, WideDivisor classes,
                             int64_t packs, simt::Reporter reporter) {
  const int64_t pack = int64_t{simt::block_x()} * kThreads + simt::thread_x();
  if (pack >= packs) return;

  // A pack of several elements lies in one sample, along the classes.
  const int64_t first = pack * width;
  const int64_t row = inner.quotient(first);
  const int64_t sample = classes.quotient(row);
  const int64_t first_class = row - sample * classes.value();
  const int64_t target = sample * inner.value() + first - row * inner.value();

  const int64_t number = gradient.targets.classes[target];
  if (first_class == 0) gradient.targets.check(reporter, kTargetOfBackward, number);
  const bool selects = gradient.targets.selects(number);

  RowPack<T, width> result;
  SIMT_UNROLL
  for (int j = 0; j < width; ++j)
    result[j] =
        selects && number == first_class + j ? gradient.at(target, number) : static_cast<T>(0.0f);
  *reinterpret_cast<RowPack<T, width>*>(gradient.out + first) = result;
}

/// The tensors behind a Targets, which they outlive.
struct TargetTensors {
  Tensor target, weight;

  TargetTensors(const Tensor& target_, const Tensor& weight_)
      : target(target_.to(kLong).contiguous()),
        weight(weight_.defined() ? weight_.contiguous() : weight_) {}

  template <class T>
  Targets<T> view(const Extent& extent, int64_t ignore_index) const {
    return {target.const_data_ptr<int64_t>(),
            weight.defined() ? weight.const_data_ptr<T>() : nullptr, ignore_index, extent.classes};
  }
};

}  // namespace

void nll_loss_forward_kernel(const Tensor& self, const Tensor& target, const Tensor& weight,
                             int64_t reduction, int64_t ignore_index, const Tensor& out0,
                             const Tensor& out1) {
  const char* const name = "nll_loss";
  const Tensor input = self.contiguous();
  const TargetTensors tensors(target, weight);
  const Extent extent(self.sizes());
  const int64_t count = extent.targets();
  const int64_t pieces = detail::ceil_div(count, kPiece);
  const Tensor sums = empty_tensor({pieces, 2}, kDouble, self.device());
  auto* const parts = static_cast<TwoSums<double>*>(sums.data());
  const cudaStream_t stream = c10::cuda::current_stream();

  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), name, [&] {
    const bool keep = reduction == kNone;
    scalar_t* const out = out0.data_ptr<scalar_t>();
    if (pieces > 0)
      c10::cuda::launch(name, &nll_loss_kernel<scalar_t>, dim3(static_cast<unsigned>(pieces)),
                        dim3(kThreads), 0, stream, tensors.view<scalar_t>(extent, ignore_index),
                        input.const_data_ptr<scalar_t>(), WideDivisor(extent.inner), count,
                        keep ? out : nullptr, parts, simt::Reporter{});

    c10::cuda::launch(name, &nll_loss_total_kernel<scalar_t>, dim3(1), dim3(kThreads), 0, stream,
                      parts, pieces, reduction == kMean, keep ? nullptr : out,
                      out1.data_ptr<scalar_t>());
  });
}

void nll_loss_backward_kernel(const Tensor& grad_output, IntArrayRef sizes, const Tensor& target,
                              const Tensor& weight, int64_t reduction, int64_t ignore_index,
                              const Tensor& total_weight, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const char* const name = "nll_loss_backward";
  const Tensor grads = grad_output.contiguous();
  const TargetTensors tensors(target, weight);
  const Extent extent(sizes);

  AT_DISPATCH_FLOATING_AND_REDUCED(out0.scalar_type(), name, [&] {
    const scalar_t* const total =
        reduction == kMean ? total_weight.const_data_ptr<scalar_t>() : nullptr;
    scalar_t* const out = out0.data_ptr<scalar_t>();
    const NllLossGradient<scalar_t> gradient{tensors.view<scalar_t>(extent, ignore_index),
                                             grads.const_data_ptr<scalar_t>(), reduction == kNone,
                                             total, out};
    const auto launch = [&](auto kernel, int width) {
      const int64_t packs = out0.numel() / width;
      c10::cuda::launch(
          name, kernel, dim3(static_cast<unsigned>(detail::ceil_div(packs, kThreads))),
          dim3(kThreads), 0, c10::cuda::current_stream(), gradient, WideDivisor(extent.inner),
          WideDivisor(extent.classes), packs, simt::Reporter{});
    };

    constexpr int kWidth = 16 / sizeof(scalar_t);
    if (extent.inner == 1 && extent.classes % kWidth == 0 && are_aligned(out))
      return launch(&nll_loss_gradient_kernel<kWidth, scalar_t>, kWidth);
    launch(&nll_loss_gradient_kernel<1, scalar_t>, 1);
  });
}

}  // namespace at::native::cuda
