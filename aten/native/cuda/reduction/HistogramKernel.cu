// The kernels of bincount and of histograms.
#include <limits>

#include "aten/Dispatch.h"
#include "aten/core/Tensor.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/functors/HistogramBins.h"
#include "aten/native/shared/BincountChecks.h"
#include "aten/ops/amax.h"
#include "aten/ops/amin.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/ops/item.h"
#include "aten/ops/to.h"
#include "aten/ops/zeros.h"

// Note [Weighted counts]
// Counts are integers, which atomic additions add up in any order. Weights are added in double in
// pieces: the points of a piece in order, by one thread with sums of its own, then the pieces in
// order. The number of pieces depends on the sizes alone, so results are the same in every run.

namespace at::native::cuda {

namespace {

/// The place of a point: the number itself.
struct OwnNumber {
  const int64_t* numbers;
  int64_t size;

  SIMT_DEVICE int64_t operator()(int64_t index) const { return numbers[index]; }
};

/// The place of a point: its box between the edges of all coordinates.
template <class T>
struct BoxOfPoint {
  static constexpr int kMaxDims = 16;
  const T* points;  // (points, dims)
  int dims;
  HistogramBins<T> bins[kMaxDims];

  SIMT_DEVICE int64_t operator()(int64_t index) const {
    int64_t box = 0;
    for (int d = 0; d < dims; ++d) {
      const int64_t place = bins[d].find(points[index * dims + d]);
      if (place < 0) return -1;
      box = box * bins[d].count + place;
    }
    return box;
  }
};

template <class Place>
struct Count {
  Place place;
  int64_t* counts;

  SIMT_DEVICE void operator()(int64_t index) const {
    const int64_t where = place(index);
    if (where >= 0) simt::atomic_add(counts + where, int64_t{1});
  }
};

/// Adds up the weights of one piece of the points.
template <class Place, class T>
struct AddPiece {
  Place place;
  const T* weights;
  int64_t n, pieces, size;
  double* sums;  // (pieces, size), zeros

  SIMT_DEVICE void operator()(int64_t piece) const {
    double* own = sums + piece * size;
    const int64_t end = n * (piece + 1) / pieces;
    for (int64_t i = n * piece / pieces; i < end; ++i) {
      const int64_t where = place(i);
      if (where >= 0) own[where] += static_cast<double>(weights[i]);
    }
  }
};

template <class T>
struct JoinPieces {
  const double* sums;
  int64_t pieces, size;
  T* out;

  SIMT_DEVICE void operator()(int64_t index) const {
    double sum = 0;
    for (int64_t piece = 0; piece < pieces; ++piece) sum += sums[piece * size + index];
    out[index] = static_cast<T>(sum);
  }
};

/// Note [Weighted counts]
template <class Place, class T>
void add_weights(const char* name, const Place& place, int64_t n, const Tensor& weights,
                 const Tensor& out) {
  constexpr int64_t kMostSums = int64_t{1} << 23;
  constexpr int64_t kPointsOfPiece = 64;
  const int64_t size = out.numel();
  const int64_t pieces =
      std::max<int64_t>(1, std::min((n - 1) / kPointsOfPiece + 1, kMostSums / size));

  const Tensor sums = at::zeros({pieces, size}, kDouble, {}, out.device());
  double* const own = sums.data_ptr<double>();
  per_index(name, pieces,
            AddPiece<Place, T>{place, weights.const_data_ptr<T>(), n, pieces, size, own});
  per_index(name, size, JoinPieces<T>{own, pieces, size, out.data_ptr<T>()});
}

template <class Place>
Tensor counts_of(const char* name, const Place& place, int64_t n, int64_t size, Device device) {
  const Tensor counts = at::zeros({size}, kLong, {}, device);
  per_index(name, n, Count<Place>{place, counts.data_ptr<int64_t>()});
  return counts;
}

}  // namespace

Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  check_bincount(self, weights, minlength);
  const Tensor places = self.to(kLong).contiguous();
  if (places.numel() == 0) return at::zeros({minlength}, kLong, {}, self.device());

  // The size of the result depends on the numbers: this waits for them.
  const int64_t least = at::item(at::amin(places)).to<int64_t>();
  const int64_t most = at::item(at::amax(places)).to<int64_t>();
  const int64_t size = bincount_size(least, most, minlength);

  const OwnNumber place{places.const_data_ptr<int64_t>(), size};
  if (!weights.defined()) return counts_of("bincount", place, places.numel(), size, self.device());

  const ScalarType dtype = weights.scalar_type() == kFloat ? kFloat : kDouble;
  const Tensor values = weights.to(dtype).contiguous();
  const Tensor result = empty_tensor({size}, dtype, self.device());
  AT_DISPATCH_FLOATING(dtype, "bincount", [&] {
    add_weights<OwnNumber, scalar_t>("bincount", place, places.numel(), values, result);
  });
  return result;
}

void histogram_count_kernel(const Tensor& self, TensorList bins, const Tensor& weight,
                            bool equal_widths, bool by_formula, const Tensor& out0) {
  if (out0.numel() == 0) return;

  std::vector<Tensor> edges;
  for (const Tensor& tensor : bins) edges.push_back(tensor.contiguous());
  const Tensor points = self.contiguous();
  const BinPlacement placement = by_formula     ? BinPlacement::Formula
                                 : equal_widths ? BinPlacement::Guess
                                                : BinPlacement::Search;

  AT_DISPATCH_FLOATING(self.scalar_type(), "histogram", [&] {
    using Place = BoxOfPoint<scalar_t>;
    TORCH_CHECK(edges.size() <= Place::kMaxDims, "histogramdd: expected at most ", Place::kMaxDims,
                " dimensions on CUDA, got ", edges.size());
    Place place{points.const_data_ptr<scalar_t>(), static_cast<int>(edges.size()), {}};
    for (size_t d = 0; d < edges.size(); ++d)
      place.bins[d] = {edges[d].const_data_ptr<scalar_t>(), edges[d].numel() - 1, placement};

    if (weight.defined()) {
      add_weights<Place, scalar_t>("histogram", place, points.size(0), weight.contiguous(), out0);
    } else {
      at::copy_(out0, counts_of("histogram", place, points.size(0), out0.numel(), out0.device())
                          .view(out0.sizes()));
    }
  });
}

}  // namespace at::native::cuda
