// Histograms: checks, bin edges and densities. The operator _histogram_count does the counting.
#include <cmath>

#include "aten/native/declarations/reduction/Histogram.h"
#include "aten/ops/_histogram_count.h"
#include "aten/ops/amax.h"
#include "aten/ops/amin.h"
#include "aten/ops/diff.h"
#include "aten/ops/linspace.h"
#include "aten/ops/narrow.h"
#include "aten/ops/reshape.h"
#include "aten/ops/select.h"
#include "aten/ops/sum.h"
#include "aten/ops/unsqueeze.h"
#include "c10/util/CheckedMath.h"

namespace at::native {

namespace {

using Interval = std::pair<double, double>;
using Histogram = std::tuple<Tensor, std::vector<Tensor>>;

struct Options {
  std::optional<ArrayRef<double>> range;
  const Tensor& weight;
  bool density;
};

Interval extent_of(const Tensor& values) {
  if (values.numel() == 0 || values.is_meta()) return {0, 0};
  return {at::amin(values).item().to_double(), at::amax(values).item().to_double()};
}

/// Widens an interval that is a single value by `by` on both sides.
Interval widened(Interval interval, double by) {
  if (interval.first == interval.second) return {interval.first - by, interval.second + by};
  return interval;
}

/// The range of dimension `dim`: the given one, or that of the points.
Interval chosen_interval(const Tensor& points, int64_t dim, const Options& options) {
  Interval interval;
  if (options.range.has_value()) {
    interval = {(*options.range)[2 * dim], (*options.range)[2 * dim + 1]};
  } else if (points.numel() == 0) {
    interval = {0, 1};
  } else {
    interval = extent_of(at::select(points, 1, dim));
  }

  TORCH_CHECK(std::isfinite(interval.first) && std::isfinite(interval.second),
              "torch.histogramdd: dimension ", dim, "'s range [", interval.first, ", ",
              interval.second, "] is not finite");
  TORCH_CHECK(interval.first <= interval.second,
              "torch.histogramdd: min should not exceed max, but got min ", interval.first, " max ",
              interval.second, " for dimension ", dim);

  return widened(interval, 0.5);
}

void check_points(const Tensor& self, size_t bins) {
  TORCH_CHECK(self.dim() >= 2,
              "torch.histogramdd: input tensor should have at least 2 dimensions, but got ",
              self.dim());
  TORCH_CHECK(static_cast<int64_t>(bins) == self.size(-1), "torch.histogramdd: expected ",
              self.size(-1), " sequences of bin edges for a ", self.size(-1),
              "-dimensional histogram but got ", bins);
}

void check_options(const Tensor& self, const Options& options) {
  const auto dims = static_cast<size_t>(self.size(-1));
  TORCH_CHECK(!options.range.has_value() || options.range->size() == 2 * dims,
              "torch.histogramdd: for a ", dims, "-dimensional histogram range should have ",
              2 * dims, " elements, but got ", options.range->size());

  if (!options.weight.defined()) return;
  TORCH_CHECK(options.weight.scalar_type() == self.scalar_type(),
              "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor "
              "should have the same dtype, but got input(",
              self.scalar_type(), "), and weight(", options.weight.scalar_type(), ")");
  TORCH_CHECK(options.weight.sizes() == self.sizes().slice(0, self.sizes().size() - 1),
              "torch.histogramdd: if weight tensor is provided it should have the same shape as "
              "the input tensor excluding its innermost "
              "dimension, but got input with shape ",
              self.sizes(), " and weight with shape ", options.weight.sizes());
}

void check_edges(const Tensor& self, TensorList edges) {
  for (size_t d = 0; d < edges.size(); ++d) {
    TORCH_CHECK(edges[d].scalar_type() == self.scalar_type(),
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but "
                "got input with dtype ",
                self.scalar_type(), " and bins for dimension ", d, " with dtype ",
                edges[d].scalar_type());
    TORCH_CHECK(edges[d].dim() == 1,
                "torch.histogramdd: bins tensor should have one dimension, but got ",
                edges[d].dim(), " dimensions in the bins tensor for dimension ", d);
    TORCH_CHECK(edges[d].numel() > 0,
                "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements "
                "in the bins tensor for dimension ",
                d);
  }
}

void check_bins(int64_t bins, size_t dim) {
  TORCH_CHECK(bins > 0, "torch.histogram(): bins must be > 0, but got ", bins, " for dimension ",
              dim);
}

Tensor edges_of(const Tensor& self, Interval interval, int64_t bins) {
  return at::linspace(Scalar(interval.first), Scalar(interval.second),
                      c10::checked_add("torch.histogram()", bins, 1), self.scalar_type(),
                      std::nullopt, self.device());
}

/// The counts divided by their total and by the size of each bin.
Tensor as_density(const Tensor& counts, TensorList edges) {
  Tensor result = counts / at::sum(counts);
  for (size_t d = 0; d < edges.size(); ++d) {
    DimVector sizes(edges.size(), 1);
    sizes[d] = -1;
    result = result / at::reshape(at::diff(edges[d]), sizes);
  }
  return result;
}

/// The histogram of points, the rows of `self`, for given edges.
Tensor counted(const Tensor& self, TensorList edges, const Options& options, bool equal_widths) {
  check_options(self, options);
  check_edges(self, edges);
  for (size_t d = 0; d < edges.size(); ++d) check_bins(edges[d].numel() - 1, d);

  const Tensor points =
      at::reshape(self, {self.numel() / std::max<int64_t>(1, self.size(-1)), self.size(-1)});
  const Tensor weight =
      options.weight.defined() ? at::reshape(options.weight, {-1}) : options.weight;

  const Tensor counts = at::_histogram_count(points, edges, weight, equal_widths, false);
  return options.density ? as_density(counts, edges) : counts;
}

/// The histogram for given numbers of bins, and its edges.
Histogram with_bins(const Tensor& self, IntArrayRef bins, const Options& options) {
  check_options(self, options);

  const Tensor points =
      at::reshape(self, {self.numel() / std::max<int64_t>(1, self.size(-1)), self.size(-1)});

  std::vector<Tensor> edges;
  for (size_t d = 0; d < bins.size(); ++d) {
    check_bins(bins[d], d);
    edges.push_back(
        edges_of(self, chosen_interval(points, static_cast<int64_t>(d), options), bins[d]));
  }

  return {counted(self, edges, options, true), edges};
}

/// A one-dimensional histogram is one of points with a single coordinate.
Tensor as_points(const Tensor& self) { return at::reshape(self, {-1, 1}); }

Tensor flat_weight(const Tensor& self, const Tensor& weight) {
  if (!weight.defined()) return weight;
  TORCH_CHECK(weight.sizes() == self.sizes(),
              "torch.histogram: if weight tensor is provided it should have the same shape as the "
              "input tensor, but got input with shape ",
              self.sizes(), " and weight with shape ", weight.sizes());

  return at::reshape(weight, {-1});
}

}  // namespace

TensorSpec histogram_count_shape(const Tensor& self, TensorList bins, const Tensor& weight, bool,
                                 bool) {
  TORCH_CHECK(self.dim() == 2 && !bins.empty() &&
                  self.sizes()[1] == static_cast<int64_t>(bins.size()),
              "_histogram_count(): expected a row of ", bins.size(),
              " coordinates for each point, got ", self.sizes());

  for (const Tensor& edges : bins) {
    TORCH_CHECK(edges.dim() == 1 && edges.numel() > 1 &&
                    edges.scalar_type() == self.scalar_type() && edges.device() == self.device(),
                "_histogram_count(): expected edges of ", self.scalar_type(), " on ", self.device(),
                ", got ", edges.sizes(), " of ", edges.scalar_type(), " on ", edges.device());
  }

  TORCH_CHECK(!weight.defined() ||
                  (weight.numel() == self.sizes()[0] && weight.device() == self.device()),
              "_histogram_count(): expected a weight for each of ", self.sizes()[0], " points");

  DimVector sizes;
  for (const Tensor& edges : bins) sizes.push_back(edges.numel() - 1);
  return {sizes, self.scalar_type(), self.device()};
}

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  check_bins(bins, 0);
  TORCH_CHECK(self.is_floating_point(), "histc: expected a floating point tensor, got ",
              self.scalar_type());

  const ScalarType type = self.scalar_type() == kDouble ? kDouble : kFloat;
  Interval interval{min.to_double(), max.to_double()};
  if (interval.first == interval.second && self.numel() > 0) interval = extent_of(self);
  interval = widened(interval, 1);

  TORCH_CHECK(std::isfinite(interval.first) && std::isfinite(interval.second),
              "torch.histc: range of [", interval.first, ", ", interval.second, "] is not finite");
  TORCH_CHECK(interval.first < interval.second, "torch.histc: max must be larger than min, got ",
              interval.second, " and ", interval.first);

  const Tensor points = as_points(self.to(type));
  return at::_histogram_count(points, {edges_of(points, interval, bins)}, Tensor(), true, true)
      .to(self.scalar_type());
}

std::tuple<Tensor, Tensor> histogram_bins_tensor(const Tensor& self, const Tensor& bins,
                                                 const Tensor& weight, bool density) {
  return {
      counted(as_points(self), {bins}, {std::nullopt, flat_weight(self, weight), density}, false),
      bins.clone()};
}

std::tuple<Tensor, Tensor> histogram_bin_ct(const Tensor& self, int64_t bins,
                                            std::optional<ArrayRef<double>> range,
                                            const Tensor& weight, bool density) {
  auto [counts, edges] =
      with_bins(as_points(self), {bins}, {range, flat_weight(self, weight), density});
  return {counts, edges[0]};
}

Histogram histogramdd(const Tensor& self, IntArrayRef bins, std::optional<ArrayRef<double>> range,
                      const Tensor& weight, bool density) {
  TORCH_CHECK(
      self.dim() < 2 || static_cast<int64_t>(bins.size()) == self.size(-1),
      "histogramdd: The size of bins must be equal to the innermost dimension of the input, got ",
      bins.size());
  check_points(self, bins.size());
  return with_bins(self, bins, {range, weight, density});
}

Histogram histogramdd_int_bins(const Tensor& self, int64_t bins,
                               std::optional<ArrayRef<double>> range, const Tensor& weight,
                               bool density) {
  const DimVector each(self.dim() == 0 ? 1 : self.size(-1), bins);
  return histogramdd(self, each, range, weight, density);
}

Histogram histogramdd_tensor_bins(const Tensor& self, TensorList bins,
                                  std::optional<ArrayRef<double>>, const Tensor& weight,
                                  bool density) {
  check_points(self, bins.size());
  return {counted(self, bins, {std::nullopt, weight, density}, false),
          std::vector<Tensor>(bins.begin(), bins.end())};
}

}  // namespace at::native
