#pragma once
// Dropout of the weights of attention. Included by files compiled once per instruction set.
#include "aten/native/cpu/attention/Mask.h"

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace attention {

/// Which weights of (N, H, queries, keys) are kept, and multiplied by 1 / (1 - p).
class Dropout {
 public:
  Dropout(const Tensor& kept, double p, int64_t queries, int64_t keys)
      : kept_(kept.defined() ? kept.contiguous() : kept),
        data_(static_cast<const bool*>(kept_.defined() ? kept_.data() : nullptr)),
        queries_(queries),
        keys_(keys),
        scale_(1 / (1 - p)) {}

  bool defined() const { return data_ != nullptr; }

  /// out[key][query] = the factor of each weight, for n keys and `count` queries. Rows of the
  /// result are `step` apart and have whole vectors.
  template <class Sum>
  void factors(int64_t matrix, int64_t query, int64_t count, int64_t key, int64_t n, Sum* out,
               int64_t step) const {
    constexpr int64_t W = tile::kWidth<Sum>;
    const tile::Vector<Sum> scale = tile::broadcast(static_cast<Sum>(scale_));
    const bool* const from = data_ + (matrix * queries_ + query) * keys_ + key;

    for (int64_t first = 0; first < count; first += W) {
      const auto read = [&](int64_t i, int64_t p, int64_t length) {
        return as_numbers<Sum>(from + (first + i) * keys_ + p, length) * scale;
      };
      tile::pack_transposed<Sum>(read, std::min(W, count - first), n, out + first, step);
    }
  }

 private:
  Tensor kept_;
  const bool* data_;
  int64_t queries_;
  int64_t keys_;
  double scale_;
};

}  // namespace attention
}  // namespace CPU_CAPABILITY
}  // namespace at::native
