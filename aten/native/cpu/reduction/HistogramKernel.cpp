// Counts how often each small integer occurs, and how many points are in each bin.
#include <algorithm>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/native/declarations/cpu/reduction/HistogramKernel.h"
#include "aten/native/functors/HistogramBins.h"
#include "aten/native/shared/BincountChecks.h"
#include "aten/ops/aminmax.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

namespace {

/// For every i, adds add(i) to element place(i) of the result. This is done in pieces, each with
/// a result of its own in double; their number does not depend on the number of threads.
template <typename Place, typename Add>
std::vector<double> accumulate(int64_t n, int64_t size, const Place& place, const Add& add) {
  const int64_t pieces = n >= 65536 && size <= 65536 ? 16 : 1;
  std::vector<std::vector<double>> partial(static_cast<size_t>(pieces));

  parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      std::vector<double> sums(static_cast<size_t>(size), 0.0);
      for (int64_t i = n * p / pieces; i < n * (p + 1) / pieces; ++i) {
        const int64_t where = place(i);
        if (where >= 0) sums[where] += add(i);
      }

      partial[p] = std::move(sums);
    }
  });

  for (int64_t p = 1; p < pieces; ++p) {
    for (int64_t k = 0; k < size; ++k) partial[0][k] += partial[p][k];
  }

  return std::move(partial[0]);
}

/// Adds up the weights of the points in each bin.
template <typename T>
void count_points(const Tensor& points, const std::vector<Tensor>& edges, const Tensor& weight,
                  BinPlacement placement, const Tensor& out) {
  const int64_t dims = points.size(1);
  std::vector<HistogramBins<T>> bins;
  for (const Tensor& edge : edges)
    bins.push_back({static_cast<const T*>(edge.data()), edge.numel() - 1, placement});

  const auto* values = static_cast<const T*>(points.data());
  const auto box_of = [&](int64_t i) {
    int64_t box = 0;
    for (int64_t d = 0; d < dims; ++d) {
      const int64_t place = bins[d].find(values[i * dims + d]);
      if (place < 0) return int64_t{-1};
      box = box * bins[d].count + place;
    }
    return box;
  };

  const T* weights = weight.defined() ? static_cast<const T*>(weight.data()) : nullptr;
  const auto weight_of = [weights](int64_t i) {
    return weights == nullptr ? 1.0 : static_cast<double>(weights[i]);
  };

  const std::vector<double> sums = accumulate(points.size(0), out.numel(), box_of, weight_of);
  std::transform(sums.begin(), sums.end(), static_cast<T*>(out.data()),
                 [](double sum) { return static_cast<T>(sum); });
}

/// The size of the result of bincount: at least one more than the largest number.
int64_t checked_size(const Tensor& places, int64_t minlength) {
  const auto [least, most] = at::aminmax(places);
  return bincount_size(least.item().to<int64_t>(), most.item().to<int64_t>(), minlength);
}

/// Counts without weights are integers: double would round those beyond 2^53.
Tensor counts_of(const Tensor& places, int64_t size) {
  const Tensor result = empty_tensor({size}, kLong, kCPU);
  auto* counts = static_cast<int64_t*>(result.data());
  std::fill(counts, counts + size, int64_t{0});
  const auto* numbers = static_cast<const int64_t*>(places.data());
  for (int64_t i = 0; i < places.numel(); ++i) ++counts[numbers[i]];
  return result;
}

template <typename T>
Tensor weighted_counts(const Tensor& places, const Tensor& weights, int64_t size) {
  const auto* numbers = static_cast<const int64_t*>(places.data());
  const auto* values = static_cast<const T*>(weights.data());

  const Tensor result = empty_tensor({size}, scalar_type_of<T>, kCPU);
  const std::vector<double> sums = accumulate(
      places.numel(), size, [numbers](int64_t i) { return numbers[i]; },
      [values](int64_t i) { return static_cast<double>(values[i]); });

  std::transform(sums.begin(), sums.end(), static_cast<T*>(result.data()),
                 [](double sum) { return static_cast<T>(sum); });
  return result;
}

}  // namespace

Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  check_bincount(self, weights, minlength);
  const Tensor places = self.to(kLong).contiguous();
  if (places.numel() == 0) return counts_of(places, minlength);

  const int64_t size = checked_size(places, minlength);
  if (!weights.defined()) return counts_of(places, size);
  if (weights.scalar_type() == kFloat)
    return weighted_counts<float>(places, weights.contiguous(), size);
  return weighted_counts<double>(places, weights.to(kDouble).contiguous(), size);
}

void histogram_count_kernel(const Tensor& self, TensorList bins, const Tensor& weight,
                            bool equal_widths, bool by_formula, const Tensor& out0) {
  if (out0.numel() == 0) return;

  std::vector<Tensor> edges;
  for (const Tensor& tensor : bins) edges.push_back(tensor.contiguous());
  const Tensor points = self.contiguous();
  const Tensor weights = weight.defined() ? weight.contiguous() : weight;

  const BinPlacement placement = by_formula     ? BinPlacement::Formula
                                 : equal_widths ? BinPlacement::Guess
                                                : BinPlacement::Search;

  AT_DISPATCH_FLOATING(self.scalar_type(), "histogram",
                       [&] { count_points<scalar_t>(points, edges, weights, placement, out0); });
}

}  // namespace at::native
