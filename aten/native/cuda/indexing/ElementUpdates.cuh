// Updates of single elements by an index of the same shape, as scatter_add and scatter_reduce have.
#pragma once
#include "aten/iteration/Lanes.h"
#include "aten/native/cuda/indexing/Accumulate.cuh"
#include "aten/native/cuda/indexing/IndexMoves.cuh"

namespace at::native::cuda {

/// The argument `index` of index_select, index_add, gather and all scatters: positions along a
/// dimension of `indexed`, in steps of `unit` times the stride.
inline IndexSource along_dimension(const Tensor& indexed, int64_t dim, const Tensor& index,
                                   int64_t unit, ReportKind kind) {
  IndexSource source;
  source.data = index.data();
  source.is_long = index.scalar_type() == kLong;
  source.extent = lane_size(indexed, dim);
  source.step = lane_stride(indexed, dim) * unit;
  source.kind = kind;
  source.argument = 2;
  source.dimension = static_cast<int>(dim);
  return source;
}

inline int64_t stride_or_zero(const Tensor& tensor, int64_t d) {
  return tensor.dim() == 0 ? 0 : tensor.strides()[d];
}

inline IndexSource scatter_index(const Tensor& out, int64_t dim, const Tensor& index) {
  return along_dimension(out, dim, index, static_cast<int64_t>(out.itemsize()),
                         ReportKind::ElementRange);
}

/// The keys of updates that are elements: their offsets in the result.
struct ElementKeys {
  Geometry<2> geometry;  // of the index, and the result in bytes
  IndexSource index;
  int64_t unit;
  int64_t absent;
  int64_t* keys;

  SIMT_DEVICE void operator()(int64_t i, simt::Reporter reporter) const {
    int64_t offsets[2];
    geometry.find(i, offsets);
    int64_t found = 0;
    keys[i] = index.find(offsets[0], found, reporter) ? (offsets[1] + found) / unit : absent;
  }
};

inline Geometry<1> elements_of(const Tensor& values, IntArrayRef sizes) {
  GeometryBuilder<1> builder;
  for (size_t d = 0; d < sizes.size(); ++d)
    builder.add(sizes[d], {stride_or_zero(values, static_cast<int64_t>(d))});
  return builder.build();
}

inline Geometry<1> equal_steps(int64_t count, int64_t step) {
  GeometryBuilder<1> builder;
  builder.add(count, {step});
  return builder.build();
}

/// The updates of a scatter along `dim`, in the order of the index.
inline OrderedUpdates element_updates(const char* name, const Tensor& out, int64_t dim,
                                      const Tensor& index) {
  const auto itemsize = static_cast<int64_t>(out.itemsize());
  GeometryBuilder<2> builder;
  for (int64_t d = 0; d < index.dim(); ++d)
    builder.add(index.sizes()[d],
                {index.strides()[d], d == dim ? 0 : stride_or_zero(out, d) * itemsize});

  const int64_t absent = span_of(out);
  const Tensor keys = empty_tensor({index.numel()}, kLong, out.device());
  per_index(name, keys.numel(),
            ElementKeys{builder.build(), scatter_index(out, dim, index), itemsize, absent,
                        keys.data_ptr<int64_t>()});
  return ordered(name, keys, absent);
}

/// Applies an update of one element for each index; see element_updates.
template <class T, class Op>
void apply_elements(const char* name, const OrderedUpdates& updates, const Tensor& out,
                    const Tensor& index, const Tensor& src, const Op& op) {
  const UpdatePlan plan{{}, elements_of(src, index.sizes())};
  apply_updates<T>(name, updates, plan, out, src, op);
}

}  // namespace at::native::cuda
