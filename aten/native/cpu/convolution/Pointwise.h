#pragma once
// Pointwise convolutions as products of matrices. Included by files compiled once per instruction
// set.
#include <algorithm>

#include "aten/blas/Blas.h"
#include "aten/native/cpu/convolution/GroupLanes.h"
#include "aten/native/cpu/convolution/Plan.h"
#include "aten/native/cpu/shared/Tasks.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Whether a product of matrices is the fastest way. With channels last, tiles that read positions
/// in place are faster, unless many channels do not stay in the caches.
template <class T>
bool is_product(const Plan& plan) {
  constexpr int64_t kManyChannels = 1024;
  const ConvolutionGeometry& g = plan.geometry;
  if (!g.is_pointwise() || has_narrow_groups(g)) return false;

  const bool few = std::max(g.group_channels(), g.group_outputs()) <= kManyChannels;
  return !plan.channels_last() || c10::is_reduced_floating_point_v<T> || !few;
}

/// A pointwise convolution of contiguous tensors, in place: positions are the lanes.
template <class T>
void pointwise(const Plan& plan, bool gradient, const T* in, const T* weights, const T* bias,
               T* out) {
  constexpr auto kAsIs = blas::Transpose::None;
  constexpr auto kTransposed = blas::Transpose::Transpose;
  const ConvolutionGeometry& g = plan.geometry;
  const int64_t sources = gradient ? g.group_outputs() : g.group_channels();
  const int64_t results = gradient ? g.group_channels() : g.group_outputs();
  const int64_t positions = g.input_plane() * (plan.channels_last() ? g.batch : 1);
  const int64_t channels = g.group_channels();

  // Chunks depend on sizes only.
  const int64_t chunk = std::max<int64_t>(1, std::min<int64_t>(positions, 784));
  const int64_t chunks = (positions + chunk - 1) / chunk;
  const int64_t samples = plan.channels_last() ? 1 : g.batch;
  for_tasks(
      samples * g.groups * chunks, chunk * sources * results, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t first = task % chunks * chunk;
          const int64_t count = std::min(chunk, positions - first);
          const int64_t group = task / chunks % g.groups;
          const int64_t sample = task / chunks / g.groups;
          const T* const weight = weights + group * g.group_outputs() * channels;
          const T* const added = bias == nullptr ? nullptr : bias + group * results;
          const blas::Scale<T> beta(bias == nullptr ? 0 : 1);

          if (plan.channels_last()) {
            const T* const from = in + first * sources * g.groups + group * sources;
            T* const to = out + first * results * g.groups + group * results;
            for (int64_t p = 0; added != nullptr && p < count; ++p)
              std::copy_n(added, results, to + p * results * g.groups);
            blas::gemm<T>(gradient ? kAsIs : kTransposed, kAsIs, results, count, sources, 1, weight,
                          channels, from, sources * g.groups, beta, to, results * g.groups);
          } else {
            const T* const from = in + (sample * g.groups + group) * sources * positions + first;
            T* const to = out + (sample * g.groups + group) * results * positions + first;
            for (int64_t o = 0; added != nullptr && o < results; ++o)
              std::fill_n(to + o * positions, count, added[o]);
            blas::gemm<T>(kAsIs, gradient ? kTransposed : kAsIs, count, results, sources, 1, from,
                          positions, weight, channels, beta, to, positions);
          }
        }
      });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
