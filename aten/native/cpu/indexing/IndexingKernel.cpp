// The kernels that read and write elements by indices: index_put, index_select, index_add, gather
// and scatter.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "aten/Dispatch.h"
#include "aten/iteration/Gather.h"
#include "aten/iteration/Lanes.h"
#include "aten/iteration/MemoryOverlap.h"
#include "aten/native/cpu/shared/RowSums.h"
#include "aten/native/declarations/cpu/indexing/IndexingKernel.h"
#include "aten/native/shared/AdvancedIndexing.h"
#include "aten/native/shared/CopyChecks.h"
#include "aten/native/shared/NumberBits.h"
#include "aten/vec/wrapping.h"

namespace at::native {

namespace {

// Lanes of up to kFewElements are processed kTogether at a time, whichever way they lie in memory:
// the work of beginning one would be more than that of its elements.
constexpr int64_t kFewElements = 16;
constexpr int64_t kTogether = 64;

/// Whether sums are accumulated in a wider dtype, so that they round once and not after every term.
bool is_reduced(const Tensor& tensor) {
  return to_accumulate(tensor.scalar_type()) != tensor.scalar_type();
}

Tensor widened(const Tensor& tensor) { return tensor.to(to_accumulate(tensor.scalar_type())); }

Tensor long_index(const Tensor& index) {
  return index.scalar_type() == kLong ? index : index.to(kLong);
}

/// Raises IndexError, as PyTorch's selections along a dimension do.
int64_t checked_selection(const char* op, int64_t index, int64_t dim, int64_t size) {
  TORCH_CHECK_INDEX(index >= 0 && index < size, op, "(): index ", index,
                    " is out of bounds for dimension ", dim, " with size ", size);
  return index;
}

/// Calls f with a value of a type of this size, which is all that moving elements depends on.
template <typename F>
void with_element_type(size_t itemsize, const F& f) {
  switch (itemsize) {
    case 1: return f(uint8_t());
    case 2: return f(uint16_t());
    case 4: return f(uint32_t());
    case 8: return f(uint64_t());
    default: return f(c10::complex<double>());
  }
}

/// Asks for the first cache lines of a row that is read soon; no prefetcher can guess which.
void prefetch_row(const char* row, int64_t bytes) {
  constexpr int64_t kLine = 64;
  constexpr int64_t kMost = 1024;
  for (int64_t i = 0; i < std::min(bytes, kMost); i += kLine) __builtin_prefetch(row + i);
}

/// Copies the rows of `bytes` bytes that `position` names to consecutive rows of `out`.
void copy_rows(const char* in, const int64_t* position, int64_t rows, int64_t bytes,
               size_t itemsize, char* out) {
  constexpr int64_t kAhead = 4;  // rows
  if (bytes != static_cast<int64_t>(itemsize)) {
    for (int64_t row = 0; row < rows; ++row) {
      if (row + kAhead < rows) prefetch_row(in + position[row + kAhead] * bytes, bytes);
      std::memcpy(out + row * bytes, in + position[row] * bytes, bytes);
    }
    return;
  }

  // Rows of one element are assigned, which avoids a call of memcpy for each.
  with_element_type(itemsize, [&](auto element) {
    using T = decltype(element);
    const T* from = reinterpret_cast<const T*>(in);
    T* to = reinterpret_cast<T*>(out);
#pragma GCC unroll 4
    for (int64_t row = 0; row < rows; ++row) to[row] = from[position[row]];
  });
}

/// Copies the elements that `positions` name in each of `lanes` contiguous lanes of `extent`
/// elements: a loop for short lanes, of which each would take a call of copy_rows.
void copy_in_lanes(const char* in, int64_t extent, const int64_t* position, int64_t count,
                   int64_t lanes, size_t itemsize, char* out) {
  with_element_type(itemsize, [&](auto element) {
    using T = decltype(element);
    const T* from = reinterpret_cast<const T*>(in);
    T* to = reinterpret_cast<T*>(out);
    parallel_for(0, lanes, std::max<int64_t>(1, kDefaultGrainSize / count),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t lane = begin; lane < end; ++lane) {
#pragma GCC unroll 4
                     for (int64_t i = 0; i < count; ++i)
                       to[lane * count + i] = from[lane * extent + position[i]];
                   }
                 });
  });
}

/// Raises RuntimeError, as PyTorch's gather and scatter do.
int64_t checked_element(const char* op, int64_t index, int64_t dim, int64_t size) {
  TORCH_CHECK(index >= 0 && index < size, op, "(): index ", index,
              " is out of bounds for dimension ", dim, " with size ", size);
  return index;
}

/// Raises RuntimeError unless all positions, `stride` elements apart, are in [0, size). They are
/// checked in vectors, before the loop that uses them.
void check_positions(const char* op, const int64_t* position, int64_t stride, int64_t count,
                     int64_t dim, int64_t size) {
  // A position outside has a sign, or its distance to the last one has.
  const uint64_t last = static_cast<uint64_t>(size) - 1;
  uint64_t signs = 0;
  const auto look = [&](auto step) {
#pragma omp simd reduction(| : signs)
    for (int64_t i = 0; i < count; ++i) {
      const auto p = static_cast<uint64_t>(position[i * step]);
      signs |= p | (last - p);
    }
  };
  stride == 1 ? look(std::integral_constant<int64_t, 1>()) : look(stride);

  if (signs >> 63 == 0) return;
  for (int64_t i = 0; i < count; ++i) checked_element(op, position[i * stride], dim, size);
}

/// out[i] = in[position[i]], where the strides count elements.
template <typename T, typename Stride>
void gather_lane(const int64_t* position, Stride index_stride, const T* in, Stride in_stride,
                 T* out, Stride out_stride, int64_t count) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < count; ++i)
    out[i * out_stride] = in[position[i * index_stride] * in_stride];
}

/// Whether neighbouring lanes of `tensor`, which is number k of those of `lanes`, lie closer to
/// each other in memory than the elements of a lane do.
bool are_crosswise(const LaneIterator& lanes, size_t k, const Tensor& tensor, int64_t dim) {
  const int64_t along = lane_stride(tensor, dim) * static_cast<int64_t>(tensor.itemsize());
  return lanes.neighbours() > 1 && lanes.step(k) <= along;
}

/// The number of neighbouring lanes of `tensor` that form a row: all, unless threads would have
/// nothing to share.
int64_t lanes_of_row(const LaneIterator& lanes, size_t k, const Tensor& tensor, int64_t dim) {
  constexpr int64_t kLeast = 64;
  if (!are_crosswise(lanes, k, tensor, dim)) return 1;

  const int64_t row = lanes.neighbours();
  const int64_t threads = in_parallel_region() ? 1 : get_num_threads();
  if (lanes.lanes() / row >= threads) return row;

  const int64_t share = (row + threads - 1) / threads;
  return (share + kLeast - 1) / kLeast * kLeast;
}

/// Whether each position chooses a row: the index is expanded along the last dimension, in which
/// both tensors are contiguous.
bool chooses_rows(const Tensor& positions, int64_t dim, const Tensor& a, const Tensor& b) {
  return positions.dim() > 1 && dim != positions.dim() - 1 && positions.sizes().back() > 1 &&
         positions.strides().back() == 0 && a.strides().back() == 1 && b.strides().back() == 1;
}

void add_chosen_rows(ScalarType type, const RowSums& sums, const Scalar& alpha) {
  static const auto kernel = TORCH_PY_CHOOSE_KERNEL(add_rows);
  kernel(type, sums, alpha);
}

/// Calls f(i, w) for element i of lane w; the inner loop runs over the neighbouring lanes.
template <typename F>
inline void for_each_element(int64_t count, int64_t width, const F& f) {
  if (width == 1) {
    for (int64_t i = 0; i < count; ++i) f(i, 0);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t w = 0; w < width; ++w) f(i, w);
    }
  }
}

/// Copies self to `out`. In place, checks all indices instead, because a failing scatter must leave
/// self unchanged.
void start_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out) {
  if (!out.is_same(self)) {
    out.copy_(self);
    return;
  }

  // Positions that are repeated along a dimension are checked once.
  const Tensor positions = without_repetitions(long_index(index)).contiguous();
  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t extent = lane_size(self, d);
  const int64_t* position = positions.data_ptr<int64_t>();
  for (int64_t i = 0; i < positions.numel(); ++i)
    checked_element("scatter", position[i], d, extent);
}

/// Calls write(element of out, element of src) for every index.
template <typename T, typename Write>
void scatter_lanes(const Tensor& out, int64_t dim, const Tensor& index, const Tensor& src,
                   const Write& write) {
  const Tensor positions = long_index(index);
  const int64_t d = wrap_dim(dim, out.dim());
  const int64_t extent = lane_size(out, d);
  const int64_t count = lane_size(positions, d);
  const int64_t out_stride = lane_stride(out, d);
  const int64_t src_stride = lane_stride(src, d);
  const int64_t index_stride = lane_stride(positions, d);

  const auto group = [&](char* const* data, int64_t width, const int64_t* steps) {
    const auto* position = reinterpret_cast<const int64_t*>(data[0]);
    T* target = reinterpret_cast<T*>(data[1]);
    const T* source = reinterpret_cast<const T*>(data[2]);
    const int64_t index_step = steps[0] / sizeof(int64_t);
    const int64_t out_step = steps[1] / sizeof(T);
    const int64_t src_step = steps[2] / sizeof(T);

    for_each_element(count, width, [&](int64_t i, int64_t w) {
      const int64_t p =
          checked_element("scatter", position[i * index_stride + w * index_step], d, extent);
      write(target[p * out_stride + w * out_step], source[i * src_stride + w * src_step]);
    });
  };

  const LaneIterator lanes(d, {&positions, &out, &src});
  const bool together = count <= kFewElements || are_crosswise(lanes, 0, positions, d);
  lanes.for_each_group(count, together ? kTogether : 1, group);
}

/// The rows of `self` that an expanded index chooses.
void gather_rows(const Tensor& self, int64_t dim, const Tensor& positions, const Tensor& out) {
  const auto size = static_cast<int64_t>(self.itemsize());
  const int64_t extent = lane_size(self, dim);
  const int64_t count = lane_size(positions, dim);
  const int64_t in_row = lane_stride(self, dim) * size;
  const int64_t out_row = lane_stride(out, dim) * size;
  const int64_t index_stride = lane_stride(positions, dim);

  const auto group = [&](char* const* data, int64_t width, const int64_t* /*steps*/) {
    const auto* position = reinterpret_cast<const int64_t*>(data[0]);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t p = checked_element("gather", position[i * index_stride], dim, extent);
      std::memcpy(data[2] + i * out_row, data[1] + p * in_row, width * size);
    }
  };

  const LaneIterator lanes(dim, {&positions, &self, &out});
  lanes.for_each_group(count, lanes_of_row(lanes, 2, out, dim), group);
}

/// Adds the rows of `src` to rows of `out` that an expanded index chooses.
void scatter_add_rows(const Tensor& out, int64_t dim, const Tensor& positions, const Tensor& src) {
  const auto size = static_cast<int64_t>(out.itemsize());
  const int64_t extent = lane_size(out, dim);
  const int64_t count = lane_size(positions, dim);
  const int64_t out_row = lane_stride(out, dim) * size;
  const int64_t src_row = lane_stride(src, dim) * size;
  const int64_t index_stride = lane_stride(positions, dim);

  const auto group = [&](char* const* data, int64_t width, const int64_t* /*steps*/) {
    const auto* position = reinterpret_cast<const int64_t*>(data[0]);
    for (int64_t i = 0; i < count; ++i)
      checked_element("scatter", position[i * index_stride], dim, extent);

    const RowSums sums = {data[1], out_row, data[2], src_row, position, index_stride, count, width};
    add_chosen_rows(out.scalar_type(), sums, Scalar(1));
  };

  const LaneIterator lanes(dim, {&positions, &out, &src});
  lanes.for_each_group(count, lanes_of_row(lanes, 1, out, dim), group);
}

}  // namespace

void index_put_(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  check_index_put(self, indices, values);

  // Summed in the wider dtype, so that the sum rounds once.
  if (accumulate && is_reduced(self) && !has_internal_overlap(self)) {
    const Tensor wide = widened(self);
    index_put_(wide, indices, widened(values), true);
    self.copy_(wide);
    return;
  }

  const IndexPut put = plan_index_put(self, indices, values);
  const IndexPlan& plan = put.plan;
  const Tensor source = put.values.contiguous();
  if (source.numel() == 0) return;

  const RowShape shape = row_shape(plan);
  const int64_t row_bytes = shape.length * static_cast<int64_t>(self.itemsize());
  const char* from = static_cast<const char*>(source.data());

  // One thread: with repeated indices the last value wins, and sums have one order.
  if (!accumulate) {
    for (int64_t row = 0; row < shape.rows; ++row)
      scatter(row_address(plan, row), shape.stride, from + row * row_bytes, self.itemsize(),
              shape.length);
    return;
  }

  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "index_put_", [&] {
    for (int64_t row = 0; row < shape.rows; ++row) {
      char* target = row_address(plan, row);
      const auto* value = reinterpret_cast<const scalar_t*>(from + row * row_bytes);
      for (int64_t i = 0; i < shape.length; ++i) {
        auto* element = reinterpret_cast<scalar_t*>(target + i * shape.stride);
        *element = static_cast<scalar_t>(vec::wrapping_sum(*element, value[i]));
      }
    }
  });
}

void index_select_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out0) {
  if (out0.numel() == 0) return;

  const Tensor positions = long_index(index).contiguous();
  const int64_t* position = positions.data_ptr<int64_t>();
  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t extent = lane_size(self, d);
  const int64_t count = positions.numel();
  for (int64_t i = 0; i < count; ++i) checked_selection("index_select", position[i], d, extent);

  // Contiguous memory is `outer` blocks of `extent` rows of `inner` bytes: whole rows are copied.
  if (self.is_contiguous()) {
    int64_t outer = 1;
    int64_t inner = static_cast<int64_t>(self.itemsize());
    for (int64_t k = 0; k < d; ++k) outer *= self.sizes()[k];
    for (int64_t k = d + 1; k < self.dim(); ++k) inner *= self.sizes()[k];

    const char* in = static_cast<const char*>(self.data());
    char* out = static_cast<char*>(out0.data());
    if (count <= kFewElements && inner == static_cast<int64_t>(self.itemsize()))
      return copy_in_lanes(in, extent, position, count, outer, self.itemsize(), out);

    parallel_for(0, outer * count, std::max<int64_t>(1, 65536 / inner),
                 [&](int64_t begin, int64_t end) {
                   while (begin < end) {
                     const int64_t i = begin % count;
                     const int64_t rows = std::min(count - i, end - begin);
                     copy_rows(in + begin / count * extent * inner, position + i, rows, inner,
                               self.itemsize(), out + begin * inner);
                     begin += rows;
                   }
                 });
    return;
  }

  with_element_type(self.itemsize(), [&](auto element) {
    using T = decltype(element);
    const int64_t in_stride = lane_stride(self, d);
    const int64_t out_stride = lane_stride(out0, d);
    LaneIterator(d, {&self, &out0}).for_each(count, [&](char* const* data) {
      const T* in = reinterpret_cast<const T*>(data[0]);
      T* out = reinterpret_cast<T*>(data[1]);
      for (int64_t i = 0; i < count; ++i) out[i * out_stride] = in[position[i] * in_stride];
    });
  });
}

void index_add_kernel(const Tensor& self, int64_t dimension, const Tensor& index,
                      const Tensor& source, const Scalar& alpha, const Tensor& out0) {
  const int64_t dim = wrap_dim(dimension, self.dim());
  if (is_reduced(self)) {
    const Tensor wide = widened(self);
    index_add_kernel(wide, dim, index, widened(source), alpha, wide);
    out0.copy_(wide);
    return;
  }

  const Tensor positions = long_index(index).contiguous();
  const int64_t* position = positions.data_ptr<int64_t>();
  const int64_t extent = lane_size(self, dim);
  const int64_t count = positions.numel();
  // As in PyTorch, vectors raise IndexError and tensors of more dimensions RuntimeError.
  for (int64_t i = 0; i < count; ++i)
    self.dim() > 1 ? checked_element("index_add", position[i], dim, extent)
                   : checked_selection("index_add", position[i], dim, extent);

  if (!out0.is_same(self)) out0.copy_(self);
  if (source.numel() == 0) return;

  const int64_t size = static_cast<int64_t>(self.itemsize());
  const int64_t out_stride = lane_stride(out0, dim);
  const int64_t source_stride = lane_stride(source, dim);
  const LaneIterator lanes(dim, {&out0, &source});

  // Lanes do not share elements, so one thread sums up each, in the order of the indices.
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "index_add", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const opmath_t factor = alpha.to<opmath_t>();

    const auto group = [&](char* const* data, int64_t width, const int64_t* steps) {
      if (width > 1 && steps[0] == size && steps[1] == size) {
        const RowSums sums = {
            data[0], out_stride * size, data[1], source_stride * size, position, 1, count, width};
        return add_chosen_rows(self.scalar_type(), sums, alpha);
      }

      auto* out = reinterpret_cast<scalar_t*>(data[0]);
      const auto* in = reinterpret_cast<const scalar_t*>(data[1]);
      const int64_t out_step = steps[0] / size;
      const int64_t in_step = steps[1] / size;
      for_each_element(count, width, [&](int64_t i, int64_t w) {
        scalar_t& element = out[position[i] * out_stride + w * out_step];
        const auto value = static_cast<opmath_t>(in[i * source_stride + w * in_step]);
        element = static_cast<scalar_t>(vec::wrapping_sum(static_cast<opmath_t>(element),
                                                          vec::wrapping_product(value, factor)));
      });
    };

    lanes.for_each_group(count, lanes_of_row(lanes, 0, out0, dim), group);
  });
}

void gather_kernel(const Tensor& self, int64_t dim, const Tensor& index, bool /*sparse_grad*/,
                   const Tensor& out0) {
  if (out0.numel() == 0) return;

  const Tensor positions = long_index(index);
  const int64_t d = wrap_dim(dim, self.dim());
  if (chooses_rows(positions, d, self, out0)) return gather_rows(self, d, positions, out0);

  const int64_t extent = lane_size(self, d);
  const int64_t count = lane_size(positions, d);
  const int64_t in_stride = lane_stride(self, d);
  const int64_t out_stride = lane_stride(out0, d);
  const int64_t index_stride = lane_stride(positions, d);
  const LaneIterator lanes(d, {&positions, &self, &out0});
  const bool is_crosswise = are_crosswise(lanes, 0, positions, d);
  const bool together = count <= kFewElements || is_crosswise;

  with_element_type(self.itemsize(), [&](auto element) {
    using T = decltype(element);
    const auto group = [&](char* const* data, int64_t width, const int64_t* steps) {
      const auto* position = reinterpret_cast<const int64_t*>(data[0]);
      const T* in = reinterpret_cast<const T*>(data[1]);
      T* out = reinterpret_cast<T*>(data[2]);
      const int64_t index_step = steps[0] / sizeof(int64_t);
      const int64_t in_step = steps[1] / sizeof(T);
      const int64_t out_step = steps[2] / sizeof(T);

      if (is_crosswise) {
        for_each_element(count, width, [&](int64_t i, int64_t w) {
          const int64_t p =
              checked_element("gather", position[i * index_stride + w * index_step], d, extent);
          out[i * out_stride + w * out_step] = in[p * in_stride + w * in_step];
        });
        return;
      }

      // Positions of short lanes that lie one after another are checked together.
      const bool is_run = index_stride == 1 && index_step == count;
      if (is_run) check_positions("gather", position, 1, width * count, d, extent);
      for (int64_t w = 0; w < width; ++w) {
        using One = std::integral_constant<int64_t, 1>;
        const int64_t* of_lane = position + w * index_step;
        const T* from = in + w * in_step;
        T* to = out + w * out_step;
        if (!is_run) check_positions("gather", of_lane, index_stride, count, d, extent);

        if (index_stride == 1 && in_stride == 1 && out_stride == 1) {
          gather_lane(of_lane, One(), from, One(), to, One(), count);
        } else {
          gather_lane(of_lane, index_stride, from, in_stride, to, out_stride, count);
        }
      }
    };

    lanes.for_each_group(count, together ? kTogether : 1, group);
  });
}

void scatter_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                    const Tensor& out0) {
  start_scatter(self, dim, index, out0);
  if (index.numel() == 0) return;

  with_element_type(self.itemsize(), [&](auto element) {
    using T = decltype(element);
    scatter_lanes<T>(out0, dim, index, src, [](T& target, const T& value) { target = value; });
  });
}

void scatter_value_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                          const Tensor& out0) {
  start_scatter(self, dim, index, out0);
  if (index.numel() == 0) return;

  with_bits_of(value, self.scalar_type(), [&](auto fill) {
    using T = decltype(fill);
    scatter_lanes<T>(out0, dim, index, out0, [fill](T& target, const T&) { target = fill; });
  });
}

void scatter_add_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                        const Tensor& out0) {
  // Summed in the wider dtype, so that the sum rounds once.
  if (is_reduced(self)) {
    const Tensor wide = empty_tensor(self.sizes(), to_accumulate(self.scalar_type()), kCPU);
    scatter_add_kernel(self.to(wide.scalar_type()), dim, index, src.to(wide.scalar_type()), wide);
    out0.copy_(wide);
    return;
  }

  start_scatter(self, dim, index, out0);
  if (index.numel() == 0) return;

  const Tensor positions = long_index(index);
  const int64_t d = wrap_dim(dim, self.dim());
  if (chooses_rows(positions, d, out0, src)) return scatter_add_rows(out0, d, positions, src);

  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "scatter_add", [&] {
    scatter_lanes<scalar_t>(out0, dim, index, src, [](scalar_t& target, const scalar_t& value) {
      target = static_cast<scalar_t>(vec::wrapping_sum(target, value));
    });
  });
}

}  // namespace at::native
