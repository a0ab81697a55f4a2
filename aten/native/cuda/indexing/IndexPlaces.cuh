// The places that an advanced index names, and loops over them.
#pragma once
#include <algorithm>
#include <vector>

#include "aten/core/Tensor.h"
#include "aten/native/cuda/indexing/IndexMoves.cuh"
#include "aten/native/shared/AdvancedIndexing.h"
#include "aten/native/shared/SizeProduct.h"
#include "aten/ops/expand.h"
#include "aten/ops/to.h"

namespace at::native::cuda {

/// An offset that no element has.
inline constexpr int64_t kNothingAbsent = -1;

/// Writes the offset of each place, of several indices that lie in dense memory.
struct PlaceOffsets {
  IndexSource indices[Geometry<1>::kMaxDims];
  int count;
  int64_t unit;    // bytes that offsets are counted in
  int64_t absent;  // the offset of a place that does not exist
  int64_t* out;

  SIMT_DEVICE void operator()(int64_t i, simt::Reporter reporter) const {
    int64_t total = 0;
    bool exists = true;
    for (int k = 0; k < count; ++k) {
      int64_t offset = 0;
      exists = indices[k].find(i, offset, reporter) && exists;
      total += offset;
    }
    out[i] = exists ? total / unit : absent;
  }
};

/// Dense indices on the device of self, each of the shape of the places.
inline std::vector<Tensor> dense_indices(const IndexPlan& plan) {
  std::vector<Tensor> result;
  for (const Tensor& index : plan.indices)
    result.push_back(
        at::expand(at::to(index, plan.source.device(), kLong), plan.index_sizes).contiguous());
  return result;
}

inline IndexSource source_of(const IndexPlan& plan, const std::vector<Tensor>& indices, size_t k) {
  IndexSource source;
  source.data = indices[k].data();
  source.extent = plan.extents[k];
  source.step = plan.steps[k];
  source.wraps = true;
  source.argument = 1;  // of index and of index_put_
  source.dimension = static_cast<int>(plan.dimensions[k]);
  return source;
}

/// The offsets of all places in units of `unit` bytes.
inline Tensor place_offsets(const char* name, const IndexPlan& plan,
                            const std::vector<Tensor>& indices, int64_t unit, int64_t absent) {
  const Tensor result = empty_tensor({indices[0].numel()}, kLong, plan.source.device());
  PlaceOffsets places{};
  places.count = static_cast<int>(indices.size());
  places.unit = unit;
  places.absent = absent;
  places.out = result.data_ptr<int64_t>();
  TORCH_CHECK(indices.size() <= std::size(places.indices), name, ": more than ",
              std::size(places.indices), " indices");
  for (size_t k = 0; k < indices.size(); ++k) places.indices[k] = source_of(plan, indices, k);

  per_index(name, result.numel(), places);
  return result;
}

/// The loop over a result of the plan: the dimensions before the index, the number of the place,
/// and those after. `strides` are of the tensor that has the result's shape; those of the places
/// are left out where `place_stride` is false. In units of `unit` bytes.
template <int K>
Geometry<K> loop_over(const IndexPlan& plan, IntArrayRef strides, int64_t itemsize, int64_t unit,
                      bool result_first, bool place_stride) {
  GeometryBuilder<K> builder;
  const auto add = [&](int64_t size, int64_t result, int64_t indexed, int64_t place) {
    if constexpr (K == 3) {
      result_first ? builder.add(size, {result, indexed, place})
                   : builder.add(size, {indexed, result, place});
    } else {
      builder.add(size, {indexed, result, place, 0});
    }
  };

  size_t d = 0;
  for (size_t k = 0; k < plan.before_sizes.size(); ++k, ++d)
    add(plan.before_sizes[k], strides[d] * itemsize / unit, plan.before_strides[k] / unit, 0);

  // Places are numbered in the order of the index's dimensions.
  int64_t place = product_of(plan.index_sizes);
  for (size_t k = 0; k < plan.index_sizes.size(); ++k, ++d) {
    place /= std::max<int64_t>(plan.index_sizes[k], 1);
    add(plan.index_sizes[k], place_stride ? strides[d] * itemsize / unit : 0, 0, place);
  }

  for (size_t k = 0; k < plan.after_sizes.size(); ++k, ++d)
    add(plan.after_sizes[k], strides[d] * itemsize / unit, plan.after_strides[k] / unit, 0);
  return result_first ? builder.sorted() : builder.build();
}

/// What the addresses of all places are multiples of, as the sum of its bits.
inline int64_t steps_of(const IndexPlan& plan) {
  int64_t all = 0;
  for (const int64_t step : plan.steps) all |= step;
  return all;
}

inline IndexSource known_offsets(const Tensor& offsets, int64_t step = 1) {
  IndexSource source;
  source.data = offsets.data();
  source.extent = IndexSource::kUnchecked;
  source.step = step;
  return source;
}

// `steps`: what the offsets of indices are multiples of, as the sum of its bits.

inline void gather_elements(const char* name, Geometry<3> geometry, const Tensor& out,
                            const Tensor& in, const IndexSource& index, int64_t steps) {
  char* to = static_cast<char*>(out.data());
  const char* from = static_cast<const char*>(in.data());
  const int64_t bytes = widen(geometry, static_cast<int64_t>(in.itemsize()), to, from, steps);
  if (geometry.numel == 0) return;

  constexpr int64_t kTile = int64_t{kGatheredAtOnce} * kPerIndexThreads;
  const int64_t blocks = std::min((geometry.numel - 1) / kTile + 1, kMostPerIndexBlocks);
  with_moved_type(bytes, [&](auto element) {
    using T = decltype(element);
    c10::cuda::launch(name, &gather_kernel_of<T>, dim3(static_cast<unsigned>(blocks)),
                      dim3(kPerIndexThreads), 0, c10::cuda::current_stream(),
                      GatherElements<T>{geometry, to, from, index}, simt::Reporter{});
  });
}

inline void put_elements(const char* name, Geometry<4> geometry, const Tensor& out,
                         const Tensor& in, const IndexSource& index, int64_t steps,
                         const LastWins& last, int64_t absent) {
  char* to = static_cast<char*>(out.data());
  const char* from = static_cast<const char*>(in.data());
  const auto itemsize = static_cast<int64_t>(in.itemsize());
  const int64_t bytes = last.owners != nullptr
                            ? itemsize
                            : widen(geometry, itemsize, to, from, steps | last.source_step);
  with_moved_type(bytes, [&](auto element) {
    using T = decltype(element);
    per_index(name, geometry.numel, PutElements<T>{geometry, to, from, index, last, absent, T(0)});
  });
}

}  // namespace at::native::cuda
