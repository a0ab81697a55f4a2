#pragma once
// A few rows times a weight that is kept packed. Included by files compiled once per instruction
// set.
#include <algorithm>

#include "aten/blas/Blas.h"
#include "aten/blas/tile/Elements.h"
#include "aten/native/cpu/shared/Tasks.h"
#include "aten/native/shared/PackedWeights.h"
#include "c10/cpu/CpuInfo.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace tile = blas::tile::CPU_CAPABILITY;

// With more rows, packing costs little, and other loops are better.
constexpr int64_t kMostPackedRows = 16;

/// out (rows, outputs) = x (rows, depth) times the transpose of weight (outputs, depth) + bias. The
/// arithmetic is that of our own matrix products, in the same order, so the bits are the same.
template <class E>
class PackedProduct {
 public:
  using Stored = typename E::Stored;
  using Packed = typename E::Packed;
  using Sum = typename E::Sum;

  PackedProduct(const Tensor& x, const Tensor& weight)
      : rows_(x.size(0)),
        outputs_(weight.size(0)),
        elements_(x.size(1)),
        steps_((elements_ + E::kGroup - 1) / E::kGroup),
        panels_((outputs_ + kLanes - 1) / kLanes) {
    const int64_t size = panels_ * steps_ * kLanes + tile::kWidth<Packed>;
    weight_ = packed_weight(weight, {Packer::LinearPanels, {}}, size * int64_t{sizeof(Packed)},
                            [&](void* to) { pack(weight, static_cast<Packed*>(to)); });
  }

  /// Whether the packed weight is kept; otherwise the product is not for this class.
  bool is_ready() const { return weight_.defined(); }

  void run(const Tensor& x, const Stored* bias, Stored* out) const {
    const Scratch<Sum> rows(steps_ * rows_ + tile::kWidth<Packed>);
    Packed* const packed = reinterpret_cast<Packed*>(rows.data());
    pack_rows(x, packed);

    const int64_t work = std::max<int64_t>(1, elements_ * kLanes * rows_);
    parallel_for(0, panels_, std::max<int64_t>(1, (int64_t{1} << 18) / work),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t panel = begin; panel < end; ++panel)
                     multiply(panel, packed, bias, out);
                 });
  }

 private:
  static constexpr int64_t kLanes = tile::kTileVectors * tile::kWidth<Packed>;
  static constexpr bool kRounds = !std::is_same_v<Stored, Sum>;

  int64_t tiles() const { return (rows_ + E::kRows - 1) / E::kRows; }
  int64_t first_row(int64_t i) const { return i * rows_ / tiles(); }

  // Chunks of the depth are those of aten/blas/tile/Gemm.isa.cpp, of which the first are longer.
  int64_t chunks() const { return (steps_ + E::kDepth - 1) / E::kDepth; }
  int64_t first_step(int64_t chunk) const {
    const int64_t length = steps_ / chunks();
    return chunk * length + std::min(chunk, steps_ - length * chunks());
  }

  void pack(const Tensor& weight, Packed* to) const {
    const Stored* const from = weight.const_data_ptr<Stored>();
    const int64_t step = weight.strides()[0];
    const int64_t depth_step = weight.strides()[1];
    const int64_t grain =
        std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, steps_ * kLanes));

    // Vectors may run over into the next panel of the same thread.
    parallel_for(0, panels_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t panel = begin; panel < end; ++panel) {
        const int64_t first = panel * kLanes;
        E::pack_lanes({from + first * step, step, depth_step}, std::min(kLanes, outputs_ - first),
                      elements_, to + panel * steps_ * kLanes, kLanes);
      }
    });
  }

  /// All tiles of a chunk, and then the next chunk.
  void pack_rows(const Tensor& x, Packed* to) const {
    const Stored* const from = x.const_data_ptr<Stored>();
    for (int64_t chunk = 0; chunk < chunks(); ++chunk) {
      const int64_t start = first_step(chunk) * E::kGroup;
      const int64_t depth = std::min(first_step(chunk + 1) * E::kGroup, elements_) - start;
      for (int64_t i = 0; i < tiles(); ++i) {
        const int64_t row = first_row(i);
        const int64_t height = first_row(i + 1) - row;
        E::pack_rows({from + row * elements_ + start, elements_, 1}, height, depth, to);
        to += height * (first_step(chunk + 1) - first_step(chunk));
      }
    }
  }

  void multiply(int64_t panel, const Packed* rows, const Stored* bias, Stored* out) const {
    const int64_t first = panel * kLanes;
    const int64_t count = std::min(kLanes, outputs_ - first);
    const Packed* const weight =
        static_cast<const Packed*>(weight_.data()) + panel * steps_ * kLanes;
    Sum sums[kRounds ? kMostPackedRows * kLanes : 1];
    tile::Target<Sum> to{sums, kLanes, Sum(1), Sum(0)};
    if constexpr (!kRounds) {
      to.c = out + first;
      to.ldc = outputs_;
    }

    Sum* const sum = to.c;
    for (int64_t chunk = 0; chunk < chunks(); ++chunk) {
      const int64_t start = first_step(chunk);
      const int64_t depth = first_step(chunk + 1) - start;
      const tile::Lanes<Packed> lanes{weight + start * kLanes, kLanes, count, true};
      to.beta = Sum(chunk > 0);
      for (int64_t i = 0; i < tiles(); ++i) {
        const int64_t height = first_row(i + 1) - first_row(i);
        to.c = sum + first_row(i) * to.ldc;
        E::multiply(depth, lanes, height, rows, height * int64_t{sizeof(Packed)},
                    tile::RowOrder::Packed, to);
        rows += height * depth;
      }
    }

    for (int64_t r = 0; r < rows_; ++r) {
      Sum* const line = sum + r * to.ldc;
      for (int64_t l = 0; bias != nullptr && l < count; ++l)
        line[l] += static_cast<Sum>(bias[first + l]);
      if constexpr (kRounds) {
        for (int64_t l = 0; l < count; ++l)
          out[r * outputs_ + first + l] = static_cast<Stored>(line[l]);
      }
    }
  }

  int64_t rows_;
  int64_t outputs_;
  int64_t elements_;  // of the depth
  int64_t steps_;     // of the tiles, each of which multiplies a group of elements
  int64_t panels_;
  Tensor weight_;
};

template <class E>
bool multiply_packed_as(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const Tensor& out) {
  using T = typename E::Stored;
  const PackedProduct<E> product(x, weight);
  if (!product.is_ready()) return false;

  const Tensor line = bias.defined() ? bias.contiguous() : bias;
  product.run(x, line.defined() ? line.const_data_ptr<T>() : nullptr, out.data_ptr<T>());
  return true;
}

/// out = x times the transpose of `weight` + bias, a vector that may be undefined, if the packed
/// form of the weight is kept; otherwise returns false. x and out are contiguous matrices, and all
/// have one dtype.
inline bool multiply_packed(const Tensor& x, const Tensor& weight, const Tensor& bias,
                            const Tensor& out) {
  const int64_t rows = x.size(0);
  const bool has_lines = weight.strides()[0] == 1 || weight.strides()[1] == 1;
  if (rows > kMostPackedRows || !has_lines || weight.numel() == 0) return false;

  const int64_t outputs = weight.size(0);
  const int64_t depth = weight.size(1);
  const bool along_depth = weight.strides()[1] == 1 && weight.strides()[0] != 1;
  switch (x.scalar_type()) {
    // A single row reads the weight only once, as it is.
    case kFloat:
      return rows > 1 && blas::packs_lanes<float>(rows, outputs, depth, along_depth) &&
             multiply_packed_as<tile::Floats<float>>(x, weight, bias, out);
    case kDouble:
      return rows > 1 && blas::packs_lanes<double>(rows, outputs, depth, along_depth) &&
             multiply_packed_as<tile::Floats<double>>(x, weight, bias, out);
    case kHalf: return multiply_packed_as<tile::Widened<c10::Half>>(x, weight, bias, out);
    case kBFloat16:
#ifdef AT_TILE_HAS_PAIRS
      if (c10::cpu_features().avx512_bf16)
        return multiply_packed_as<tile::Pairs>(x, weight, bias, out);
#endif
      return multiply_packed_as<tile::Widened<c10::BFloat16>>(x, weight, bias, out);
    default: return false;
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
