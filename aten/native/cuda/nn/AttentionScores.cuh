// The other inputs that determine the weights of attention: a mask, and dropout.
#pragma once

#include <algorithm>

#include "aten/native/cuda/nn/AttentionTiles.cuh"

namespace at::native::cuda::attention {

/// A tensor that was expanded to (N, H, L, S), or null.
template <class T>
struct ScoreTensor {
  const T* data;
  int64_t batch_stride;
  int64_t head_stride;
  int64_t query_stride;
  int64_t key_stride;

  SIMT_DEVICE T at(int batch, int head, int query, int key) const {
    return data[batch * batch_stride + head * head_stride + query * query_stride +
                key * key_stride];
  }
};

struct ScoreTensors {
  ScoreTensor<float> mask;  // added to scores
  ScoreTensor<bool> kept;   // weights that dropout keeps
  float kept_factor;        // by which it multiplies them

  bool are_absent() const { return mask.data == nullptr && kept.data == nullptr; }
};

/// The tensors for a head of queries. Queries and keys that are out of range are clamped to the
/// last ones.
class HeadScores {
 public:
  SIMT_DEVICE HeadScores(const ScoreTensors& all, const Shape& of_scores, int of_batch, int of_head)
      : tensors(all), shape(of_scores), batch(of_batch), head(of_head) {}

  /// A score, given as a power of 2, with its mask.
  SIMT_DEVICE float masked(float power, int query, int key) const {
    if (tensors.mask.data == nullptr) return power;
    return power + value_at(tensors.mask, query, key) * kLog2e;
  }

  /// The factor that dropout has for a weight.
  SIMT_DEVICE float dropout(int query, int key) const {
    if (tensors.kept.data == nullptr) return 1;
    return value_at(tensors.kept, query, key) ? tensors.kept_factor : 0.0f;
  }

 private:
  template <class T>
  SIMT_DEVICE T value_at(const ScoreTensor<T>& tensor, int query, int key) const {
    return tensor.at(batch, head, std::min(query, shape.queries - 1),
                     std::min(key, shape.keys - 1));
  }

  const ScoreTensors& tensors;
  const Shape& shape;
  int batch, head;
};

}  // namespace at::native::cuda::attention
