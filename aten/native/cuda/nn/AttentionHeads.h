// The tensors of attention as kernels see them.
#pragma once

#include <algorithm>
#include <type_traits>

#include "aten/native/cuda/nn/AttentionScores.cuh"
#include "aten/native/nn/Attention.h"

namespace at::native::cuda::attention {

/// Calls f with a value of the type of the tensor's elements.
template <class F>
void with_type_of(const Tensor& tensor, const F& f) {
  if (tensor.scalar_type() == kHalf) f(c10::Half());
  else f(c10::BFloat16());
}

template <class T>
Heads<T> heads_of(const Tensor& tensor) {
  const IntArrayRef strides = tensor.strides();
  if constexpr (std::is_const_v<T>)
    return {tensor.const_data_ptr<std::remove_const_t<T>>(), strides[0], strides[1], strides[2]};
  else return {tensor.data_ptr<T>(), strides[0], strides[1], strides[2]};
}

template <class T>
ScoreTensor<T> score_tensor_of(const Tensor& tensor, IntArrayRef sizes) {
  if (!tensor.defined()) return {};
  const Tensor expanded = tensor.expand(sizes);
  const IntArrayRef strides = expanded.strides();
  return {expanded.const_data_ptr<T>(), strides[0], strides[1], strides[2], strides[3]};
}

inline ScoreTensors score_tensors_of(const AttentionArguments& given) {
  const DimVector sizes = given.score_sizes();
  return {score_tensor_of<float>(given.mask, sizes), score_tensor_of<bool>(given.kept, sizes),
          static_cast<float>(1 / (1 - given.dropout))};
}

inline Shape shape_of(const AttentionArguments& given) {
  const IntArrayRef query = given.query.sizes();
  Shape shape;
  shape.matrices = static_cast<int>(query[0] * query[1]);
  shape.heads = static_cast<int>(query[1]);
  shape.group = static_cast<int>(query[1] / given.key.size(1));
  shape.queries = static_cast<int>(query[2]);
  shape.keys = static_cast<int>(given.key.size(2));
  shape.width = static_cast<int>(query[3]);
  shape.value_width = static_cast<int>(given.value.size(3));
  shape.causal = given.is_causal;
  shape.scale = static_cast<float>(given.scale);
  return shape;
}

inline int blocks_of(int rows, int matrices, int rows_of_block) {
  return ((rows - 1) / rows_of_block + 1) * matrices;
}

/// Calls f.operator()<kWidth, kTiles, kHasScoreTensors>() for kernels whose blocks own these rows.
/// With two tiles of 16 rows, a warp uses what it reads from shared memory twice. Wide heads, and
/// tensors of scores, leave registers for one; few rows make more blocks of smaller ones.
template <class F>
void with_instance_of(const Shape& shape, int rows, int matrices, const ScoreTensors& scores,
                      const F& f) {
  constexpr int kManyBlocks = 200;  // more than one for each processor of a large GPU
  const bool is_wide = std::max(shape.width, shape.value_width) > 64;
  const bool are_many = blocks_of(rows, matrices, kWarps * 32) >= kManyBlocks;

  if (is_wide && scores.are_absent()) f.template operator()<128, 1, false>();
  else if (is_wide) f.template operator()<128, 1, true>();
  else if (!scores.are_absent()) f.template operator()<64, 1, true>();
  else if (are_many) f.template operator()<64, 2, false>();
  else f.template operator()<64, 1, false>();
}

}  // namespace at::native::cuda::attention
