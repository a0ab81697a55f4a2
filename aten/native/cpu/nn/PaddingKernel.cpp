// Padding with a constant or with elements of the input. Every line of the result is copied from
// the input line that it repeats, and gradients are added up along the same way back.
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/native/declarations/cpu/nn/PaddingKernel.h"
#include "aten/native/shared/ResamplingRules.h"
#include "aten/native/shared/ResultFormat.h"
#include "aten/ops/copy.h"
#include "aten/ops/fill.h"
#include "aten/ops/narrow.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

namespace {

/// Elements [from, from + count) of a line go to [to, to + count).
struct Run {
  int64_t to, from, count;
};

std::vector<Run> runs_of(const Taps& taps) {
  std::vector<Run> runs;
  for (int64_t j = 0; j < taps.out; ++j) {
    if (!runs.empty() && runs.back().from + runs.back().count == taps.index[j]) {
      ++runs.back().count;
    } else {
      runs.push_back({j, taps.index[j], 1});
    }
  }
  return runs;
}

/// Copies a part of a line. Most are too short to be worth a call.
void copy_part(char* to, const char* from, int64_t bytes) {
  constexpr int64_t kStep = 16;
  constexpr int64_t kMost = 128;
  if (bytes < kStep || bytes > kMost) {
    std::memcpy(to, from, bytes);
    return;
  }

  int64_t i = 0;
  for (; i + 4 * kStep <= bytes; i += 4 * kStep) std::memcpy(to + i, from + i, 4 * kStep);

  // The last step ends with the part, and overlaps the one before.
  for (; i + kStep < bytes; i += kStep) std::memcpy(to + i, from + i, kStep);
  std::memcpy(to + bytes - kStep, from + bytes - kStep, kStep);
}

/// Copies the runs of a line. An element has kElement bytes, or `element` if that is 0.
template <int64_t kElement>
void copy_line(char* to, const char* from, const Run* runs, size_t count, int64_t element) {
  if constexpr (kElement != 0) element = kElement;
  for (const Run* run = runs; run != runs + count; ++run) {
    char* target = to + run->to * element;
    const char* source = from + run->from * element;
    if (kElement != 0 && run->count == 1) {
      std::memcpy(target, source, kElement);
    } else {
      copy_part(target, source, run->count * element);
    }
  }
}

/// Calls f with the size of an element as a constant, 0 for the sizes of channels_last pixels and
/// complex numbers.
template <typename F>
void with_size(int64_t element, const F& f) {
  switch (element) {
    case 1: return f(std::integral_constant<int64_t, 1>());
    case 2: return f(std::integral_constant<int64_t, 2>());
    case 4: return f(std::integral_constant<int64_t, 4>());
    case 8: return f(std::integral_constant<int64_t, 8>());
    default: return f(std::integral_constant<int64_t, 0>());
  }
}

/// Adds a block's gradients to `sums`: every line's to the line that it repeats.
template <typename acc_t, typename scalar_t>
void add_lines(const AxesTaps& taps, const std::vector<Run>& runs, int64_t inner,
               const scalar_t* grad, acc_t* sums) {
  const int64_t rows = taps[1].out;
  const int64_t in_line = taps[2].in * inner;
  const int64_t out_line = taps[2].out * inner;

  for (int64_t k = 0; k < taps[0].out * rows; ++k) {
    acc_t* target =
        sums + (taps[0].index[k / rows] * taps[1].in + taps[1].index[k % rows]) * in_line;
    const scalar_t* from = grad + k * out_line;

    for (const Run& run : runs) {
      acc_t* to = target + run.from * inner;
      const scalar_t* values = from + run.to * inner;
      for (int64_t i = 0; i < run.count * inner; ++i) to[i] += static_cast<acc_t>(values[i]);
    }
  }
}

}  // namespace

void _pad_by_copy_kernel(const Tensor& self, IntArrayRef pad, std::string_view mode,
                         const Tensor& out0) {
  if (out0.numel() == 0) return;

  const PlaneLayout layout(out0, static_cast<int64_t>(pad.size()) / 2, self);
  const Tensor input = self.contiguous(layout.format);
  const AxesTaps taps = padding_axes(self.sizes(), pad, mode);
  const auto runs = runs_of(taps[2]);

  const int64_t element = layout.inner * static_cast<int64_t>(self.itemsize());
  const int64_t in_line = taps[2].in * element;
  const int64_t out_line = taps[2].out * element;
  const int64_t rows = taps[1].out;
  const int64_t planes = taps[0].out;

  const char* in = static_cast<const char*>(input.data());
  char* out = static_cast<char*>(out0.data());
  const int64_t grain =
      std::max<int64_t>(1, kDefaultGrainSize * 4 / std::max<int64_t>(1, out_line));

  // The lines [k, k + count) of one plane.
  const auto copy_lines = [&](auto size, int64_t k, int64_t count) {
    const int64_t row = k % rows;
    const int64_t plane = k / rows;
    const int64_t source_plane = plane / planes * taps[0].in + taps[0].index[plane % planes];
    const char* from = in + source_plane * taps[1].in * in_line;
    const int64_t* source_row = taps[1].index.data() + row;

    // Copies, which stores to `out` cannot change.
    const Run* const first = runs.data();
    const size_t run_count = runs.size();
    const int64_t from_step = in_line;
    const int64_t to_step = out_line;
    const int64_t bytes = element;

    char* to = out + k * to_step;
    for (int64_t i = 0; i < count; ++i, to += to_step)
      copy_line<size>(to, from + source_row[i] * from_step, first, run_count, bytes);
  };

  with_size(element, [&](auto size) {
    parallel_for(0, layout.outer * planes * rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end;) {
        const int64_t count = std::min(rows - k % rows, end - k);
        copy_lines(size, k, count);
        k += count;
      }
    });
  });
}

void _pad_by_copy_backward_kernel(const Tensor& grad, IntArrayRef sizes, IntArrayRef pad,
                                  std::string_view mode, const Tensor& out0) {
  if (out0.numel() == 0) return;

  const PlaneLayout layout(out0, static_cast<int64_t>(pad.size()) / 2, grad);
  const Tensor grads = grad.contiguous(layout.format);
  const AxesTaps taps = padding_axes(sizes, pad, mode);
  const auto runs = runs_of(taps[2]);

  const int64_t in = out0.numel() / layout.outer;
  const int64_t out = grads.numel() / layout.outer;

  AT_DISPATCH_FLOATING_AND_COMPLEX(grad.scalar_type(), "pad_backward", [&] {
    using acc_t = opmath_type<scalar_t>;
    const scalar_t* from = grads.const_data_ptr<scalar_t>();
    scalar_t* to = out0.data_ptr<scalar_t>();
    parallel_for(0, layout.outer, std::max<int64_t>(1, kDefaultGrainSize / in),
                 [&](int64_t begin, int64_t end) {
                   std::vector<acc_t> sums(in);
                   for (int64_t k = begin; k < end; ++k) {
                     std::fill(sums.begin(), sums.end(), acc_t(0));
                     add_lines(taps, runs, layout.inner, from + k * out, sums.data());
                     for (int64_t i = 0; i < in; ++i)
                       to[k * in + i] = static_cast<scalar_t>(sums[i]);
                   }
                 });
  });
}

void constant_pad_nd_kernel(const Tensor& self, IntArrayRef pad, const Scalar& value,
                            const Tensor& out0) {
  at::fill_(out0, value);
  Tensor target = out0;
  Tensor source = self;

  // The part of the input that remains is copied to its place between the padding.
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t d = self.dim() - 1 - static_cast<int64_t>(i);
    const int64_t before = pad[2 * i];
    const int64_t after = pad[2 * i + 1];
    const int64_t kept =
        self.sizes()[d] + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    if (kept <= 0) return;

    source = at::narrow(source, d, std::max<int64_t>(0, -before), kept);
    target = at::narrow(target, d, std::max<int64_t>(0, before), kept);
  }

  at::copy_(target, source);
}

}  // namespace at::native
