// Loops over packs, for compiled programs. The body is written once; the end of a row, which does
// not fill a pack, is loaded and stored in part.
#pragma once

#include "aten/vec/lanes.h"
#include "aten/vec/pack_functions.h"

namespace at::vec {
inline namespace CPU_CAPABILITY {

#ifdef AT_VEC_HAS_PACKS

/// Elements that fill a pack.
struct WholePack {
  template <PackElement T>
  C10_ALWAYS_INLINE Pack load(const T* source) const {
    return load_pack(source);
  }
  template <PackElement T>
  C10_ALWAYS_INLINE void store(T* target, Pack x) const {
    store_pack(target, x);
  }
  C10_ALWAYS_INLINE Pack only(Pack x, float) const { return x; }
};

/// The first `count` lanes of a pack.
struct PartOfPack {
  int64_t count;

  template <PackElement T>
  C10_ALWAYS_INLINE Pack load(const T* source) const {
    alignas(64) T elements[kPack];
    copy_part_in(elements, source, count);
    return load_pack(elements);
  }
  template <PackElement T>
  C10_ALWAYS_INLINE void store(T* target, Pack x) const {
    alignas(64) T elements[kPack];
    store_pack(elements, x);
    copy_part_out(target, elements, count);
  }
  /// x in the lanes that take part, `other` elsewhere.
  C10_ALWAYS_INLINE Pack only(Pack x, float other) const {
    PackBits lanes;
    for (uint32_t lane = 0; lane < kPack; ++lane) lanes[lane] = lane;
    return lanes < static_cast<uint32_t>(count) ? x : broadcast(other);
  }
};

/// Calls body(i, part) for every pack of [begin, end).
template <class Body>
C10_ALWAYS_INLINE void for_packs(int64_t begin, int64_t end, const Body& body) {
  int64_t i = begin;
  for (; i + kPack <= end; i += kPack) body(i, WholePack());
  if (i < end) body(i, PartOfPack{end - i});
}

/// The lanes of a pack combined to one number.
template <class Combine>
C10_ALWAYS_INLINE float combined_lanes(Pack x, const Combine& combine) {
  alignas(64) float lanes[kPack];
  store_pack(lanes, x);
  return combined(lanes, combine);
}

#endif  // AT_VEC_HAS_PACKS

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
