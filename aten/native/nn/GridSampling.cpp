// Sampling at the points of a grid, and affine grids. The gradients here are compositions of
// operators that can be differentiated again; GridSamplingKernel computes the same values in loops
// when no second derivative is needed.
#include <vector>

#include "aten/native/declarations/nn/GridSampling.h"
#include "aten/native/nn/GridSampling.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/abs.h"
#include "aten/ops/clamp.h"
#include "aten/ops/copy.h"
#include "aten/ops/expand.h"
#include "aten/ops/flatten.h"
#include "aten/ops/floor.h"
#include "aten/ops/gather.h"
#include "aten/ops/ge.h"
#include "aten/ops/grid_sampler.h"
#include "aten/ops/gt.h"
#include "aten/ops/le.h"
#include "aten/ops/logical_and.h"
#include "aten/ops/lt.h"
#include "aten/ops/matmul.h"
#include "aten/ops/ones.h"
#include "aten/ops/ones_like.h"
#include "aten/ops/remainder.h"
#include "aten/ops/reshape.h"
#include "aten/ops/round.h"
#include "aten/ops/scatter_add.h"
#include "aten/ops/select.h"
#include "aten/ops/stack.h"
#include "aten/ops/sum.h"
#include "aten/ops/to.h"
#include "aten/ops/unsqueeze.h"
#include "aten/ops/where.h"
#include "aten/ops/zeros.h"
#include "aten/ops/zeros_like.h"

namespace at::native {

namespace {

void check_sampled(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                   int64_t padding_mode) {
  TORCH_CHECK(input.device() == grid.device(),
              "grid_sampler(): expected input and grid to be on same device, but input is on ",
              input.device(), " and grid is on ", grid.device());
  TORCH_CHECK(
      input.dim() == 4 || input.dim() == 5,
      "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but ",
      "got input with sizes ", input.sizes(), " and grid with sizes ", grid.sizes());
  TORCH_CHECK(input.dim() == grid.dim(),
              "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, "
              "but got input ",
              "with sizes ", input.sizes(), " and grid with sizes ", grid.sizes());

  TORCH_CHECK(input.scalar_type() == grid.scalar_type(),
              "grid_sampler(): expected input and grid to have the same dtype, but got ",
              input.scalar_type(), " and ", grid.scalar_type());

  TORCH_CHECK(
      input.sizes()[0] == grid.sizes()[0],
      "grid_sampler(): expected grid and input to have same batch size, but got input with ",
      "sizes ", input.sizes(), " and grid with sizes ", grid.sizes());

  const int64_t spatial = input.dim() - 2;
  TORCH_CHECK(grid.sizes()[spatial + 1] == spatial, "grid_sampler(): expected grid to have size ",
              spatial, " in last dimension, but got ", "grid with sizes ", grid.sizes());

  for (int64_t d = 2; d < input.dim(); ++d) {
    TORCH_CHECK(
        input.sizes()[d] > 0,
        "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes ",
        input.sizes(), " with dimension ", d, " being empty");
  }

  TORCH_CHECK(interpolation_mode >= 0 && interpolation_mode <= 2,
              "grid_sampler(): expected interpolation_mode 0 (bilinear), 1 (nearest) or ",
              "2 (bicubic), got ", interpolation_mode);
  TORCH_CHECK(padding_mode >= 0 && padding_mode <= 2,
              "grid_sampler(): expected padding_mode 0 (zeros), 1 (border) or 2 (reflection), got ",
              padding_mode);

  TORCH_CHECK(spatial == 2 || interpolation_mode != 2,
              "grid_sampler(): bicubic interpolation only supports 4D input");
}

/// Points from -1 to 1: the centres of the outer elements (align_corners) or their outer edges.
double grid_point(int64_t i, int64_t size, bool align_corners) {
  if (size <= 1) return 0;

  const double along = 2.0 * static_cast<double>(i) / static_cast<double>(size - 1) - 1.0;
  return align_corners ? along : along * static_cast<double>(size - 1) / static_cast<double>(size);
}

/// Rows (x, y, 1) or (x, y, z, 1) of all points, with the last dimension varying fastest. Only the
/// points of each dimension are computed here; they are broadcast on the device of `like`.
Tensor homogeneous_grid(IntArrayRef spatial, bool align_corners, const Tensor& like) {
  DimVector sizes(spatial);
  sizes.push_back(static_cast<int64_t>(spatial.size()) + 1);
  const Tensor grid = at::ones(sizes, like.scalar_type(), std::nullopt, like.device());

  for (size_t d = 0; d < spatial.size(); ++d) {
    const Tensor points = empty_real_tensor({spatial[d]}, kDouble, kCPU);
    for (int64_t i = 0; i < spatial[d]; ++i)
      points.data_ptr<double>()[i] = grid_point(i, spatial[d], align_corners);

    DimVector shape(spatial.size(), 1);
    shape[d] = spatial[d];
    const auto coordinate = static_cast<int64_t>(spatial.size() - 1 - d);
    at::copy_(at::select(grid, -1, coordinate),
              at::to(lifted(points), like.device(), like.scalar_type()).view(shape));
  }

  return grid.view({-1, sizes.back()});
}

/// One of up to four elements that points take from a dimension; all tensors are (samples, points).
struct Tap {
  Tensor index;   // 0 for an element outside the dimension
  Tensor inside;  // 1 for an element inside the dimension, 0 for one outside, which counts as zero
  Tensor weight;
  Tensor slope;  // derivative of the weight by the grid's coordinate
};

/// A coordinate in elements, and its derivative by the coordinate of the grid. The derivative is
/// constant except at kinks.
struct Position {
  Tensor value, slope;
};

/// Clamps to [0, last]; outside, the slope is 0.
Position clipped(const Position& at, double last) {
  const Tensor inside =
      at::logical_and(at::gt(at.value, 0), at::lt(at.value, last)).to(at.value.scalar_type());
  return {at::clamp(at.value, Scalar(0.0), Scalar(last)), at.slope * inside};
}

/// Mirrored at the centres of the border elements (align_corners) or at their outer edges.
Position reflected(const Position& at, double size, bool align_corners) {
  const double low = align_corners ? 0.0 : -0.5;
  const double span = align_corners ? size - 1 : size;
  if (span == 0) return {at.value * 0.0, at.slope * 0.0};

  // After an odd number of whole spans the coordinate runs backwards.
  const Tensor distance = at::abs(at.value - low);
  const Tensor turns = at::floor(distance.detach() / span);
  const Tensor back = at::remainder(turns, 2);
  const Tensor side = at::ge(at.value.detach(), low).to(at.value.scalar_type()) * 2.0 - 1.0;
  const Tensor direction = 1.0 - back * 2.0;

  return {(distance - turns * span) * direction + (back * span + low), at.slope * side * direction};
}

/// Applies the padding mode to a coordinate.
Position moved_inside(const GridSampler& sampler, const Position& at, int64_t size) {
  if (sampler.outside == GridSampler::Outside::Zeros) return at;

  const bool reflects = sampler.outside == GridSampler::Outside::Reflection;
  const Position moved =
      reflects ? reflected(at, static_cast<double>(size), sampler.align_corners) : at;
  return clipped(moved, static_cast<double>(size - 1));
}

/// The tap at element `place`, a whole number that may lie outside the dimension.
Tap tap_at(const Tensor& place, int64_t size, Tensor weight, Tensor slope) {
  const Tensor inside =
      at::logical_and(at::ge(place, 0), at::le(place, static_cast<double>(size - 1)));

  return {at::where(inside, place, at::zeros_like(place)).to(kLong), inside.to(place.scalar_type()),
          std::move(weight), std::move(slope)};
}

/// ((a x + b) x + c) x + d
Tensor cubic(const Tensor& x, double a, double b, double c, double d) {
  return ((x * a + b) * x + c) * x + d;
}

/// Cubic convolution with a = -0.75 (Keys, "Cubic convolution interpolation for digital image
/// processing", 1981): the kernel is `near` up to distance 1 and `far` from 1 to 2. The four
/// elements lie at distances 1 + t, t, 1 - t and 2 - t; to the right of the point, the slope
/// changes its sign.
std::vector<Tap> cubic_taps(const GridSampler& sampler, const Position& at, int64_t size) {
  constexpr double a = -0.75;
  const Tensor low = at::floor(at.value.detach());
  const Tensor t = at.value - low;
  const Tensor rest = 1.0 - t;

  const auto near = [](const Tensor& x) { return cubic(x, a + 2, -(a + 3), 0, 1); };
  const auto far = [](const Tensor& x) { return cubic(x + 1.0, a, -5 * a, 8 * a, -4 * a); };
  const auto near_slope = [](const Tensor& x) { return cubic(x, 0, 3 * (a + 2), -2 * (a + 3), 0); };
  const auto far_slope = [](const Tensor& x) { return cubic(x + 1.0, 0, 3 * a, -10 * a, 8 * a); };

  const Tensor weights[] = {far(t), near(t), near(rest), far(rest)};
  const Tensor slopes[] = {far_slope(t), near_slope(t), -near_slope(rest), -far_slope(rest)};

  std::vector<Tap> taps;
  for (int k = 0; k < 4; ++k) {
    const Position place =
        moved_inside(sampler, {low + static_cast<double>(k - 1), at.slope}, size);
    taps.push_back(tap_at(place.value, size, weights[k], slopes[k] * at.slope));
  }

  return taps;
}

/// The taps of all points in one dimension.
std::vector<Tap> axis_taps(const GridSampler& sampler, const Tensor& coordinate, int64_t size) {
  const double scale = static_cast<double>(sampler.align_corners ? size - 1 : size) / 2;
  Position at{(coordinate + 1.0) * scale - (sampler.align_corners ? 0.0 : 0.5),
              at::ones_like(coordinate) * scale};

  if (sampler.mode == GridSampler::Mode::Cubic) return cubic_taps(sampler, at, size);

  at = moved_inside(sampler, at, size);
  if (sampler.mode == GridSampler::Mode::Nearest) {
    return {tap_at(at::round(at.value.detach()), size, at::ones_like(coordinate),
                   at::zeros_like(coordinate))};
  }

  const Tensor low = at::floor(at.value.detach());
  const Tensor part = at.value - low;
  return {tap_at(low, size, 1.0 - part, -at.slope), tap_at(low + 1.0, size, part, at.slope)};
}

/// The gradients of input and grid, summed over all combinations of taps.
class Gradients {
 public:
  Gradients(const Tensor& grad, const Tensor& input)
      : grad_(at::flatten(grad, 2, -1)), input_(at::flatten(input, 2, -1)) {
    if (input.requires_grad())
      input_sums_ = at::zeros(input_.sizes(), input_.scalar_type(), std::nullopt, input_.device());
  }

  /// Adds the contribution of one combination: a tap of each dimension, in order.
  void add(const std::vector<const Tap*>& taps, IntArrayRef sizes) {
    const size_t rank = taps.size();
    Tensor index = taps[0]->index;
    Tensor inside = taps[0]->inside;
    Tensor weight = taps[0]->weight;
    for (size_t d = 1; d < rank; ++d) {
      index = index * sizes[d] + taps[d]->index;
      inside = inside * taps[d]->inside;
      weight = weight * taps[d]->weight;
    }

    const Tensor places = at::expand(at::unsqueeze(index, 1), grad_.sizes());
    if (input_sums_.defined())
      input_sums_ =
          at::scatter_add(input_sums_, 2, places, grad_ * at::unsqueeze(weight * inside, 1));

    // By a coordinate: the slope of its own tap, times the weights of the other dimensions' taps.
    const Tensor products =
        at::sum(at::gather(input_, 2, places) * grad_, IntArrayRef(int64_t{1})) * inside;
    grid_sums_.resize(rank);
    for (size_t d = 0; d < rank; ++d) {
      Tensor slope = taps[d]->slope;
      for (size_t e = 0; e < rank; ++e) slope = e == d ? slope : slope * taps[e]->weight;
      grid_sums_[d] = grid_sums_[d].defined() ? grid_sums_[d] + products * slope : products * slope;
    }
  }

  Tensor input(IntArrayRef sizes) const {
    return input_sums_.defined() ? at::reshape(input_sums_, sizes) : Tensor();
  }

  /// Coordinates are stored with the last dimension first.
  Tensor grid(IntArrayRef sizes) const {
    return at::reshape(at::stack(std::vector<Tensor>(grid_sums_.rbegin(), grid_sums_.rend()), -1),
                       sizes);
  }

 private:
  Tensor grad_, input_, input_sums_;
  std::vector<Tensor> grid_sums_;
};

void check_grid_gradient(const Tensor& grad, const Tensor& input, const Tensor& grid,
                         int64_t interpolation_mode, int64_t padding_mode) {
  const TensorSpec output =
      grid_sampler_shape(input, grid, interpolation_mode, padding_mode, false);

  TORCH_CHECK(grad.sizes() == IntArrayRef(output.sizes) && grad.scalar_type() == output.dtype,
              "_grid_sampler_backward: expected a gradient ", "of size ", IntArrayRef(output.sizes),
              " and dtype ", output.dtype, ", got ", grad.sizes(), " and ", grad.scalar_type());

  TORCH_CHECK_NOT_IMPLEMENTED(input.is_floating_point(),
                              "\"grid_sampler_backward\" not implemented for '",
                              dtype_name(input.scalar_type()), "'");
}

}  // namespace

TensorSpec grid_sampler_shape(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                              int64_t padding_mode, bool) {
  check_sampled(input, grid, interpolation_mode, padding_mode);
  DimVector sizes(grid.sizes().slice(0, grid.sizes().size() - 1));
  sizes.insert(sizes.begin() + 1, input.sizes()[1]);
  return {sizes, input.scalar_type(), input.device()};
}

GridSizes::GridSizes(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding,
                     bool align_corners)
    : sampler{static_cast<GridSampler::Mode>(mode), static_cast<GridSampler::Outside>(padding),
              align_corners},
      batch(input.sizes()[0]),
      channels(input.sizes()[1]),
      rank(input.dim() - 2) {
  for (int64_t d = 0; d < rank; ++d) {
    size[3 - rank + d] = input.sizes()[d + 2];
    plane *= input.sizes()[d + 2];
    points *= grid.sizes()[d + 1];
  }

  TORCH_CHECK(plane <= INT32_MAX,
              "grid_sampler(): expected planes of less than 2^31 elements, got ", plane);
}

Tensor for_sampling(const Tensor& tensor) {
  return tensor.to(to_accumulate(tensor.scalar_type())).contiguous();
}

Tensor for_samples(const Tensor& out) {
  return is_reduced_floating(out.scalar_type()) ? empty_tensor(out.sizes(), kFloat, out.device())
                                                : out;
}

GridGradients::GridGradients(const Tensor& grad, const Tensor& input, const Tensor& grid,
                             int64_t mode, int64_t padding) {
  check_grid_gradient(grad, input, grid, mode, padding);
  this->grad = for_sampling(grad);
  this->input = for_sampling(input);
  this->grid = for_sampling(grid);

  const ScalarType wide = this->input.scalar_type();
  if (input.requires_grad()) of_input = empty_tensor(input.sizes(), wide, input.device());
  of_grid = empty_tensor(grid.sizes(), wide, input.device());
}

std::tuple<Tensor, Tensor> GridGradients::in_dtypes_of(const Tensor& input,
                                                       const Tensor& grid) const {
  return {of_input.defined() ? of_input.to(input.scalar_type()) : of_input,
          of_grid.to(grid.scalar_type())};
}

Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                       int64_t padding_mode, bool align_corners) {
  TORCH_CHECK(input.dim() == 4, "grid_sampler_2d(): expected 4D input, got ", input.sizes());
  return at::grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners);
}

Tensor grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                       int64_t padding_mode, bool align_corners) {
  TORCH_CHECK(input.dim() == 5, "grid_sampler_3d(): expected 5D input, got ", input.sizes());
  return at::grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners);
}

Tensor affine_grid_generator(const Tensor& theta, IntArrayRef size, bool align_corners) {
  TORCH_CHECK(size.size() == 4 || size.size() == 5,
              "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs, got size ", size);
  const int64_t rank = static_cast<int64_t>(size.size()) - 2;

  for (const int64_t extent : size)
    TORCH_CHECK(extent > 0, "Expected non-zero, positive output size. Got ", size);
  TORCH_CHECK(theta.dim() == 3 && theta.sizes()[0] == size[0] && theta.sizes()[1] == rank &&
                  theta.sizes()[2] == rank + 1,
              "Expected a batch of ", rank, "D affine matrices of shape Nx", rank, "x", rank + 1,
              " for size ", size, ". Got ", theta.sizes());

  TORCH_CHECK(theta.is_floating_point(),
              "affine_grid_generator: expected theta of a floating dtype, got ",
              theta.scalar_type());

  const IntArrayRef spatial = size.slice(2);
  DimVector sizes(spatial);
  sizes.insert(sizes.begin(), size[0]);
  sizes.push_back(rank);

  int64_t points = 1;
  for (const int64_t extent : spatial) {
    TORCH_CHECK(!__builtin_mul_overflow(points, extent, &points),
                "affine_grid_generator: sizes overflow: ", size);
  }

  const Tensor base = theta.is_meta()
                          ? empty_tensor({points, rank + 1}, theta.scalar_type(), theta.device())
                          : homogeneous_grid(spatial, align_corners, theta);

  // Each affine matrix applied to every point.
  return at::matmul(base, theta.transpose(1, 2)).view(sizes);
}

std::tuple<Tensor, Tensor> _grid_sampler_backward(const Tensor& grad, const Tensor& input,
                                                  const Tensor& grid, int64_t interpolation_mode,
                                                  int64_t padding_mode, bool align_corners) {
  check_grid_gradient(grad, input, grid, interpolation_mode, padding_mode);
  const GridSampler sampler{static_cast<GridSampler::Mode>(interpolation_mode),
                            static_cast<GridSampler::Outside>(padding_mode), align_corners};

  const IntArrayRef sizes = input.sizes().slice(2);
  const size_t rank = sizes.size();
  const ScalarType wide = to_accumulate(input.scalar_type());
  const Tensor points = at::flatten(grid.to(wide), 1, -2);

  std::vector<std::vector<Tap>> axes;
  for (size_t d = 0; d < rank; ++d) {
    axes.push_back(
        axis_taps(sampler, at::select(points, -1, static_cast<int64_t>(rank - 1 - d)), sizes[d]));
  }

  // Every combination of one tap per dimension is one element that points read.
  Gradients gradients(grad.to(wide), input.to(wide));
  size_t combinations = 1;
  for (const auto& taps : axes) combinations *= taps.size();

  for (size_t c = 0; c < combinations; ++c) {
    std::vector<const Tap*> chosen(rank);
    size_t rest = c;
    for (size_t d = rank; d-- > 0; rest /= axes[d].size())
      chosen[d] = &axes[d][rest % axes[d].size()];
    gradients.add(chosen, sizes);
  }

  const Tensor grad_input = gradients.input(input.sizes());
  return {grad_input.defined() ? grad_input.to(input.scalar_type()) : grad_input,
          gradients.grid(grid.sizes()).to(grid.scalar_type())};
}

}  // namespace at::native
