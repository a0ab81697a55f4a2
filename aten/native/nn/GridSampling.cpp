// Shapes and checks of sampling at the points of a grid, and grids of affine maps.
#include "aten/native/declarations/nn/GridSampling.h"

#include "aten/native/nn/GridSampling.h"
#include "aten/ops/grid_sampler.h"
#include "aten/ops/matmul.h"
#include "aten/ops/to.h"

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

}  // namespace

TensorSpec grid_sampler_shape(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                              int64_t padding_mode, bool) {
  check_sampled(input, grid, interpolation_mode, padding_mode);
  DimVector sizes(grid.sizes().slice(0, grid.sizes().size() - 1));
  sizes.insert(sizes.begin() + 1, input.sizes()[1]);
  return {sizes, input.scalar_type(), input.device()};
}

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

namespace {

/// Points from -1 to 1: the middles of the outer elements (align_corners), or their outer edges.
double grid_point(int64_t i, int64_t size, bool align_corners) {
  if (size <= 1) return 0;
  const double along = 2.0 * static_cast<double>(i) / static_cast<double>(size - 1) - 1.0;
  return align_corners ? along : along * static_cast<double>(size - 1) / static_cast<double>(size);
}

/// Rows (x, y, 1) or (x, y, z, 1) of all points, last dimension fastest.
Tensor homogeneous_grid(IntArrayRef spatial, bool align_corners) {
  const int64_t rank = static_cast<int64_t>(spatial.size());
  int64_t points = 1;
  for (const int64_t size : spatial) points *= size;
  const Tensor grid = empty_tensor({points, rank + 1}, kDouble, kCPU);
  double* row = grid.data_ptr<double>();
  for (int64_t p = 0; p < points; ++p, row += rank + 1) {
    int64_t rest = p;
    for (int64_t d = rank - 1; d >= 0; rest /= spatial[d], --d)
      row[rank - 1 - d] = grid_point(rest % spatial[d], spatial[d], align_corners);
    row[rank] = 1;
  }
  return grid;
}

}  // namespace

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
  const Tensor base =
      theta.is_meta()
          ? empty_tensor({points, rank + 1}, theta.scalar_type(), theta.device())
          : at::to(homogeneous_grid(spatial, align_corners), theta.device(), theta.scalar_type());
  return at::matmul(base, theta.transpose(1, 2)).view(sizes);
}

}  // namespace at::native
