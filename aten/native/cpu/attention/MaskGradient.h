#pragma once
// The gradient of a mask that was added to scores. Included by files compiled once per instruction
// set.
#include "aten/native/cpu/attention/Mask.h"
#include "aten/ops/sum_to_size.h"

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace attention {

/// Sums of gradients of scores in the shape of a mask (N or 1, H or 1, queries, keys). A mask that
/// broadcasts over queries has a row for each block of `block` queries instead.
template <class Sum>
class MaskGradient {
 public:
  MaskGradient() = default;

  /// The sums for a mask and scores of the given sizes; they are zeros.
  MaskGradient(const Tensor& mask, const DimVector& sizes, int64_t block)
      : heads_(sizes[1]), block_(size_of(mask, 2) == 1 ? block : 1) {
    const int64_t rows = (sizes[2] + block_ - 1) / block_;
    const int64_t batches = size_of(mask, 0) == 1 ? 1 : sizes[0];
    const int64_t heads = size_of(mask, 1) == 1 ? 1 : heads_;
    sums_ = empty_tensor({batches, heads, rows, sizes[3]}, c10::CppTypeToScalarType<Sum>::value,
                         mask.device());
    std::fill_n(sums_.data_ptr<Sum>(), sums_.numel(), Sum(0));

    of_row_ = sizes[3];
    of_head_ = heads == 1 ? 0 : rows * of_row_;
    of_batch_ = batches == 1 ? 0 : heads * rows * of_row_;
    data_ = sums_.data_ptr<Sum>();
  }

  bool defined() const { return sums_.defined(); }
  /// Whether batches, or the heads of a batch, add to the same sums.
  bool shared_by_batches() const { return defined() && of_batch_ == 0; }
  bool shared_by_heads() const { return defined() && of_head_ == 0; }

  /// Adds gradients[key][query], in rows of `step` elements, of `count` queries of a block and n
  /// keys. The buffer is for a vector of keys of `count` queries.
  void add(int64_t matrix, int64_t query, int64_t count, int64_t key, int64_t n,
           const Sum* gradients, int64_t step, Sum* buffer) const {
    constexpr int64_t W = tile::kWidth<Sum>;
    Sum* const sums = data_ + matrix / heads_ * of_batch_ + matrix % heads_ * of_head_ +
                      query / block_ * of_row_ + key;
    const int64_t row_step = block_ == 1 ? of_row_ : 0;

    for (int64_t first = 0; first < n; first += W) {
      const int64_t some = std::min(W, n - first);
      const auto read = [&](int64_t i, int64_t p, int64_t) {
        return tile::load(gradients + (first + i) * step + p);
      };
      tile::pack_transposed<Sum>(read, some, count, buffer, W);

      const tile::Prefix<Sum> part(some);
      for (int64_t l = 0; l < count; ++l) {
        Sum* const to = sums + l * row_step + first;
        part.store(to, part.load(to) + tile::load(buffer + l * W));
      }
    }
  }

  /// The gradient of the mask.
  Tensor result(const Tensor& mask) const {
    return at::sum_to_size(sums_, mask.sizes()).to(mask.scalar_type());
  }

 private:
  /// The size of a mask in one of the four dimensions of scores.
  static int64_t size_of(const Tensor& mask, int64_t dim) {
    const int64_t own = dim - (4 - mask.dim());
    return own < 0 ? 1 : mask.size(own);
  }

  Tensor sums_;
  Sum* data_ = nullptr;
  int64_t heads_ = 1;
  int64_t block_ = 1;
  int64_t of_batch_ = 0;
  int64_t of_head_ = 0;
  int64_t of_row_ = 0;
};

}  // namespace attention
}  // namespace CPU_CAPABILITY
}  // namespace at::native
