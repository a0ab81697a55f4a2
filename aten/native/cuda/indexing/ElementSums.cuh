// Sums of elements that an index of the same shape sends to one place, in any order.
#pragma once
#include <algorithm>

#include "aten/core/Determinism.h"
#include "aten/native/cuda/indexing/ElementUpdates.cuh"

// Note [Unordered sums]
// Sorting the updates of Note [Ordered updates] takes several times as long as adding them where
// they come. Sums of numbers that atomic instructions add are therefore made in any order, unless
// deterministic algorithms are asked for; those of integers are the same in every order. The lanes
// of a warp whose updates are all for one element, as those of a sorted index are, add them up
// first: atomic additions to one element wait for each other.

namespace at::native::cuda {

/// Adds elements of type T. Operands of the geometry: the result in bytes, without what the index
/// decides; the values in elements; the number of the index.
template <class T>
struct ElementSums {
  Geometry<3> geometry;
  IndexSource index;
  char* out;
  const T* values;

  /// The element that value number i is added to, or null.
  SIMT_DEVICE T* find(int64_t i, T& value, const simt::Reporter& reporter) const {
    if (i >= geometry.numel) return nullptr;

    int64_t offsets[3];
    geometry.find(i, offsets);
    int64_t found = 0;
    if (!index.find(offsets[2], found, reporter)) return nullptr;

    value = values[offsets[1]];
    return reinterpret_cast<T*>(out + offsets[0] + found);
  }
};

template <class T>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kPerIndexThreads)
    add_elements_kernel(ElementSums<T> sums, simt::Reporter reporter) {
  const int64_t step = static_cast<int64_t>(simt::grid_dim_x()) * kPerIndexThreads;
  const int64_t lane = simt::thread_x() % 32;
  int64_t first =
      static_cast<int64_t>(simt::block_x()) * kPerIndexThreads + simt::thread_x() - lane;

  for (; first < sums.geometry.numel; first += step) {
    T value(0);
    T* target = sums.find(first + lane, value, reporter);

    const auto place = reinterpret_cast<uint64_t>(target);
    const uint64_t place_of_first = simt::shuffle_index(simt::kFullMask, place, 0);
    if (simt::all(simt::kFullMask, place == place_of_first)) {
      SIMT_UNROLL
      for (unsigned n = 16; n > 0; n /= 2)
        value = static_cast<T>(value + simt::shuffle_down(simt::kFullMask, value, n));
      if (lane != 0) target = nullptr;
    }
    if (target != nullptr) simt::atomic_add(target, value);
  }
}

/// Whether elements of this type are added in any order: by atomic instructions.
inline bool adds_in_any_order(ScalarType type) {
  if (type == kFloat || type == kDouble) return !at::deterministic_algorithms();
  return type == kInt || type == kLong;
}

template <class T>
void launch_element_sums(const char* name, const Tensor& out, int64_t dim, const Tensor& index,
                         const Tensor& src) {
  const auto itemsize = static_cast<int64_t>(out.itemsize());
  GeometryBuilder<3> builder;
  for (int64_t d = 0; d < index.dim(); ++d)
    builder.add(index.sizes()[d], {d == dim ? 0 : stride_or_zero(out, d) * itemsize,
                                   stride_or_zero(src, d), index.strides()[d]});

  const Geometry<3> geometry = builder.build();
  const int64_t blocks = std::min((geometry.numel - 1) / kPerIndexThreads + 1, kMostPerIndexBlocks);
  const ElementSums<T> sums{geometry, scatter_index(out, dim, index),
                            static_cast<char*>(out.data()), static_cast<const T*>(src.data())};
  c10::cuda::launch(name, &add_elements_kernel<T>, dim3(static_cast<unsigned>(blocks)),
                    dim3(kPerIndexThreads), 0, c10::cuda::current_stream(), sums, simt::Reporter{});
}

/// Adds an element of `src` for each index, of which there are some, along `dim`.
inline void add_elements_in_any_order(const char* name, const Tensor& out, int64_t dim,
                                      const Tensor& index, const Tensor& src) {
  switch (out.scalar_type()) {
    case kFloat: return launch_element_sums<float>(name, out, dim, index, src);
    case kDouble: return launch_element_sums<double>(name, out, dim, index, src);
    case kInt: return launch_element_sums<uint32_t>(name, out, dim, index, src);
    default: return launch_element_sums<uint64_t>(name, out, dim, index, src);
  }
}

}  // namespace at::native::cuda
