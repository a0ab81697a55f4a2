// Copies parts of operands into panels of pairs or of four elements along the depth, which one
// instruction multiplies and adds.
#pragma once

#include "aten/blas/tile/Pack.h"

namespace at::blas::tile {
namespace CPU_CAPABILITY {

namespace {

// Pairs of 16 bits: of BFloat16, or of bytes as ShortPair. A last one without partner has 0.

/// Reads up to a vector of numbers as 16 bits each, and 0 for those that are missing.
template <class In>
class Halves {
 public:
  explicit Halves(int64_t count) : count_(count), part_(count) {}

  Vector<uint16_t> load(const In* from) const {
    if constexpr (sizeof(In) == 2) return part_.load(reinterpret_cast<const uint16_t*>(from));
    else if (count_ == kWidth<uint16_t>) return halves(from);
    else return converted_part<kWidth<uint16_t>>(from, count_, halves<In>);
  }

 private:
  int64_t count_;
  Prefix<uint16_t> part_;
};

/// Pairs of elements that lie across the depth, as many as `part` reads, from p on.
template <class In>
inline void load_pairs_across(const Operand<In>& operand, int64_t i, int64_t p, int64_t depth,
                              const Halves<In>& part, Vector<uint32_t> (&pairs)[2]) {
  const Vector<uint16_t> even = part.load(operand.at(i, p));
  const Vector<uint16_t> odd = p + 1 < depth ? part.load(operand.at(i, p + 1)) : Vector<uint16_t>{};
  Vector<uint16_t> low, high;
  interleave<uint16_t>(even, odd, low, high);
  pairs[0] = Vector<uint32_t>(low);
  pairs[1] = Vector<uint32_t>(high);
}

/// Transposes `count` lines along the depth.
template <class T, class In>
inline void pack_pair_lines(const Operand<In>& lines, int64_t first, int64_t count, int64_t depth,
                            T* out, int64_t step) {
  const auto read = [&](int64_t i, int64_t p, int64_t length) {
    const Halves<In> part(std::min(2 * length, depth - 2 * p));
    return Vector<uint32_t>(part.load(lines.at(first + i, 2 * p)));
  };
  pack_transposed<T>(read, count, (depth + 1) / 2, out, step);
}

template <class T, class In>
inline void pack_lane_pairs(const Operand<In>& lanes, int64_t count, int64_t depth, T* out,
                            int64_t panel) {
  constexpr int W = kWidth<T>;
  if (lanes.step != 1) {
    for (int64_t first = 0; first < count; first += W)
      pack_pair_lines(lanes, first, std::min<int64_t>(W, count - first), depth, out + first, panel);
    return;
  }

  const Halves<In> part(count);
  for (int64_t p = 0; p < depth; p += 2, out += panel) {
    Vector<uint32_t> pairs[2];
    load_pairs_across(lanes, 0, p, depth, part, pairs);
    store(out, pairs[0]);
    store(out + W, pairs[1]);
  }
}

template <class T, class In>
inline void pack_row_pairs(const Operand<In>& rows, int64_t count, int64_t depth, T* out) {
  for_row_vectors<kWidth<T>>(count, [&](int64_t first, int64_t length) {
    if (rows.step != 1) return pack_pair_lines(rows, first, length, depth, out + first, count);

    const Halves<In> part(length);
    for (int64_t p = 0; p < depth; p += 2) {
      Vector<uint32_t> pairs[2];
      load_pairs_across(rows, first, p, depth, part, pairs);
      store(out + p / 2 * count + first, pairs[0]);
    }
  });
}

#ifdef AT_TILE_HAS_QUADS
// Four bytes along the depth; missing ones are 0

// Note [Signs of bytes]
// The instruction multiplies unsigned bytes of the rows by signed bytes of the lanes. Where rows
// are signed, 128 is added to their bytes by flipping the highest bit. The sums of a tile then
// start from -128 times the sum of each lane; these numbers are the head of the panel of lanes.
constexpr uint32_t kFlipped = 0x80808080;

template <class In>
inline const uint8_t* bytes_at(const Operand<In>& operand, int64_t i, int64_t p) {
  return reinterpret_cast<const uint8_t*>(operand.at(i, p));
}

/// Transposes `count` lines along the depth, with some of their bits flipped.
template <class In>
inline void pack_quad_lines(const Operand<In>& lines, int64_t first, int64_t count, int64_t depth,
                            uint32_t flipped, ByteQuad* out, int64_t step) {
  const auto read = [&](int64_t i, int64_t p, int64_t length) {
    const Prefix<uint8_t> part(std::min(4 * length, depth - 4 * p));
    return Vector<uint32_t>(part.load(bytes_at(lines, first + i, 4 * p))) ^ flipped;
  };
  pack_transposed<ByteQuad>(read, count, (depth + 3) / 4, out, step);
}

/// Packs elements that lie across the depth, at most a vector of them.
template <class In>
inline void pack_quads_across(const Operand<In>& operand, int64_t first, int64_t count,
                              int64_t depth, uint32_t flipped, ByteQuad* out, int64_t step) {
  const auto part = static_cast<__mmask16>((1u << count) - 1);
  for (int64_t p = 0; p < depth; p += 4, out += step) {
    Vector<uint32_t> quads = {};
    for (int64_t i = 0; i < std::min<int64_t>(4, depth - p); ++i) {
      const __m128i bytes = _mm_maskz_loadu_epi8(part, bytes_at(operand, first, p + i));
      quads |= Vector<uint32_t>(_mm512_maskz_cvtepu8_epi32(0xffff, bytes)) << (8 * i);
    }
    store(out, quads ^ flipped);
  }
}

template <class In>
inline void pack_quads(const Operand<In>& operand, int64_t first, int64_t count, int64_t depth,
                       uint32_t flipped, ByteQuad* out, int64_t step) {
  if (operand.step != 1) pack_quad_lines(operand, first, count, depth, flipped, out, step);
  else pack_quads_across(operand, first, count, depth, flipped, out, step);
}

/// Packs lanes below a line of sums, see Note [Signs of bytes].
template <class In>
inline void pack_lane_quads(const Operand<In>& lanes, int64_t count, int64_t depth,
                            bool signed_rows, ByteQuad* out, int64_t panel) {
  constexpr int W = kWidth<ByteQuad>;
  for (int64_t first = 0; first < count; first += W) {
    ByteQuad* const head = out + first;
    ByteQuad* const quads = head + panel;
    pack_quads(lanes, first, std::min<int64_t>(W, count - first), depth, 0, quads, panel);

    Vector<uint32_t> sums = {};
    for (int64_t p = 0; signed_rows && p < (depth + 3) / 4; ++p)
      multiply_add_bytes(sums, load(quads + p * panel), broadcast(kFlipped));
    store(head, -sums);
  }
}

template <class In>
inline void pack_row_quads(const Operand<In>& rows, int64_t count, int64_t depth, bool signed_rows,
                           ByteQuad* out) {
  for_row_vectors<kWidth<ByteQuad>>(count, [&](int64_t first, int64_t length) {
    pack_quads(rows, first, length, depth, signed_rows ? kFlipped : 0, out + first, count);
  });
}
#endif

}  // namespace
}  // namespace CPU_CAPABILITY
}  // namespace at::blas::tile
