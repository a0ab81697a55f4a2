// Copies strided rows, and transposes blocks in vector registers. Compiled with -O3.
#include "aten/iteration/BlockCopy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "aten/iteration/Register.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

constexpr size_t kPiece = 16;  // bytes that the interleaving instructions work on
constexpr int64_t kLine = 64;  // bytes of a cache line

template <size_t kSize>
struct ElementOf;
template <>
struct ElementOf<1> {
  using type = uint8_t;
};
template <>
struct ElementOf<2> {
  using type = uint16_t;
};
template <>
struct ElementOf<4> {
  using type = uint32_t;
};
template <>
struct ElementOf<8> {
  using type = uint64_t;
};
template <>
struct ElementOf<16> {
  using type = uint64_t;
};

/// A vector register of kBytes with elements of kSize bytes.
template <size_t kSize, size_t kBytes>
using Vector = Register<typename ElementOf<kSize>::type, kBytes>;

template <size_t kSize, size_t kBytes>
constexpr auto kLanes =
    std::make_index_sequence<kBytes / sizeof(typename ElementOf<kSize>::type)>();

template <class V, size_t... I>
auto join(V low, V high, std::index_sequence<I...>) {
  return __builtin_shufflevector(low, high, I...);
}

/// Pieces of 16 bytes, `step` bytes apart, one after another in a register.
template <size_t kSize, size_t kBytes>
Vector<kSize, kBytes> load_pieces(const char* source, int64_t step) {
  if constexpr (kBytes == kPiece) {
    Vector<kSize, kBytes> piece;
    std::memcpy(&piece, source, kPiece);
    return piece;
  } else {
    constexpr size_t kHalf = kBytes / 2;
    return join(load_pieces<kSize, kHalf>(source, step),
                load_pieces<kSize, kHalf>(source + kHalf / kPiece * step, step),
                kLanes<kSize, kBytes>);
  }
}

/// Alternates the elements of the lower (kOffset 0) or upper halves of the pieces of a and b.
template <size_t kOffset, class V, size_t... I>
V interleave(V a, V b, std::index_sequence<I...>) {
  constexpr size_t kLanes = sizeof...(I);
  constexpr size_t kCount = kPiece * kLanes / sizeof(V);  // elements of a piece
  return __builtin_shufflevector(
      a, b, (I / kCount * kCount + kOffset * kCount / 2 + I % kCount / 2 + I % 2 * kLanes)...);
}

template <bool kStream, class V>
void store(char* target, const V& value) {
#if defined(__AVX512F__)
  if constexpr (kStream) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(target), reinterpret_cast<__m512i>(value));
    return;
  }
#endif
  std::memcpy(target, &value, sizeof(V));
}

/// Makes streamed stores visible to other threads before later stores.
void finish_streams() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// An element at any address.
template <size_t kSize>
struct Unaligned {
  typedef typename ElementOf<kSize>::type type [[gnu::aligned(1), gnu::may_alias]];
};
template <>
struct Unaligned<16> {
  typedef uint64_t type [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]];
};

template <class T>
void fill(T* target, T value, int64_t n) {
  for (int64_t i = 0; i < n; ++i) target[i] = value;
}

/// The same element of kBytes / kSize rows of the source becomes one row of the target, for as many
/// elements as fit a piece.
template <size_t kSize, size_t kBytes, bool kStream>
inline void transpose_tile(char* target, int64_t target_step, const char* source,
                           int64_t source_step) {
  using V = Vector<kSize, kBytes>;
  constexpr size_t kCount = kPiece / kSize;
  constexpr auto kAll = kLanes<kSize, kBytes>;

  V rows[kCount];
#pragma GCC unroll 16
  for (size_t r = 0; r < kCount; ++r)
    rows[r] = load_pieces<kSize, kBytes>(source + static_cast<int64_t>(r) * source_step,
                                         static_cast<int64_t>(kCount) * source_step);

  // Each step doubles the run of elements that stem from the same column.
#pragma GCC unroll 4
  for (size_t step = 1; step < kCount; step *= 2) {
    V next[kCount];
#pragma GCC unroll 8
    for (size_t r = 0; r < kCount / 2; ++r) {
      next[2 * r] = interleave<0>(rows[r], rows[r + kCount / 2], kAll);
      next[2 * r + 1] = interleave<1>(rows[r], rows[r + kCount / 2], kAll);
    }
#pragma GCC unroll 16
    for (size_t r = 0; r < kCount; ++r) rows[r] = next[r];
  }

#pragma GCC unroll 16
  for (size_t r = 0; r < kCount; ++r)
    store<kStream>(target + static_cast<int64_t>(r) * target_step, rows[r]);
}

/// Transposes a block that is contiguous along dimension 0 in the target and along 1 in the source,
/// by tiles of kBytes rows. False if the block is smaller than a tile.
template <size_t kSize, size_t kBytes, bool kStream>
bool transpose_tiles(const BlockSide& target, const BlockSide& source, int64_t n0, int64_t n1) {
  constexpr int64_t kTile0 = kBytes / kSize;
  constexpr int64_t kTile1 = kPiece / kSize;
  constexpr int64_t kStrip = kLine / kSize;
  if (n0 < kTile0 || n1 < kTile1) return false;

  // Strips use all bytes of each cache line of the source while it is at hand. The last tile along
  // each dimension overlaps the one before.
  for (int64_t strip = 0; strip < n1; strip += kStrip) {
    const int64_t strip_end = std::min(strip + kStrip, n1);
    for (int64_t tile = 0; tile < n0; tile += kTile0) {
      const int64_t i = std::min(tile, n0 - kTile0);
      for (int64_t column = strip; column < strip_end; column += kTile1) {
        const int64_t j = std::min(column, n1 - kTile1);
        transpose_tile<kSize, kBytes, kStream>(
            target.data + i * static_cast<int64_t>(kSize) + j * target.step1, target.step1,
            source.data + i * source.step0 + j * static_cast<int64_t>(kSize), source.step0);
      }
    }
  }
  return true;
}

/// Whether every row of the target consists of whole cache lines.
template <size_t kSize>
bool has_whole_lines(const BlockSide& target, int64_t n0) {
  return kRegisterBytes == kLine && reinterpret_cast<uintptr_t>(target.data) % kLine == 0 &&
         target.step1 % kLine == 0 && n0 * static_cast<int64_t>(kSize) % kLine == 0;
}

template <size_t kSize>
bool transpose(const BlockSide& target, const BlockSide& source, int64_t n0, int64_t n1,
               bool stream) {
  if (stream && has_whole_lines<kSize>(target, n0) &&
      transpose_tiles<kSize, kRegisterBytes, true>(target, source, n0, n1)) {
    finish_streams();
    return true;
  }
  return transpose_tiles<kSize, kRegisterBytes, false>(target, source, n0, n1) ||
         transpose_tiles<kSize, kPiece, false>(target, source, n0, n1);
}

/// Elements at a constant distance, which the compiler turns into loads and permutations.
template <int64_t kStep, class T>
void take_every(T* target, const T* source, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) target[i] = source[i * kStep];
}

template <size_t kSize>
void copy_row_sized(char* target, int64_t target_step, const char* source, int64_t source_step,
                    int64_t n) {
  constexpr int64_t kContiguous = kSize;
  if (target_step != kContiguous) {
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(target + i * target_step, source + i * source_step, kSize);
    return;
  }

  if (source_step == kContiguous) {
    std::memmove(target, source, kSize * static_cast<size_t>(n));
    return;
  }

  using T = typename Unaligned<kSize>::type;
  auto* to = reinterpret_cast<T*>(target);
  const auto* from = reinterpret_cast<const T*>(source);
  switch (source_step) {
    case 0: return fill(to, *from, n);
    case -kContiguous: return take_every<-1>(to, from, n);
    case 2 * kContiguous: return take_every<2>(to, from, n);
    case 3 * kContiguous: return take_every<3>(to, from, n);
    case 4 * kContiguous: return take_every<4>(to, from, n);
    default:
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(target + i * kContiguous, source + i * source_step, kSize);
  }
}

/// Copies rows of `bytes` contiguous bytes in pieces of kBytes; the last one overlaps the one
/// before.
template <size_t kBytes>
void copy_pieces(const BlockSide& target, const BlockSide& source, int64_t bytes, int64_t rows) {
  using Piece = Register<uint8_t, kBytes>;
  constexpr int64_t kPieceBytes = kBytes;

  for (int64_t row = 0; row < rows; ++row) {
    char* const to = target.data + row * target.step1;
    const char* const from = source.data + row * source.step1;
    for (int64_t start = 0; start < bytes; start += kPieceBytes) {
      const int64_t place = std::min(start, bytes - kPieceBytes);
      Piece piece;
      std::memcpy(&piece, from + place, kBytes);
      std::memcpy(to + place, &piece, kBytes);
    }
  }
}

/// Copies rows that are too short for a call each. False if they are not.
bool copy_short_rows(const BlockSide& target, const BlockSide& source, int64_t bytes,
                     int64_t rows) {
  constexpr int64_t kLongest = 256;
  if (bytes > kLongest || bytes < 4) return false;

  if (bytes >= static_cast<int64_t>(kRegisterBytes)) {
    copy_pieces<kRegisterBytes>(target, source, bytes, rows);
  } else if (bytes >= 16) {
    copy_pieces<16>(target, source, bytes, rows);
  } else if (bytes >= 8) {
    copy_pieces<8>(target, source, bytes, rows);
  } else {
    copy_pieces<4>(target, source, bytes, rows);
  }
  return true;
}

/// Repeats one element of the source along each row of the target, whose rows are short and follow
/// each other. Whole registers are written: the next row overwrites what goes beyond the end.
template <size_t kSize>
bool repeat_in_rows(const BlockSide& target, const BlockSide& source, int64_t n0, int64_t n1) {
  constexpr int64_t kFits = kRegisterBytes / kSize;
  constexpr int64_t kMostRegisters = 4;
  const int64_t registers = (n0 + kFits - 1) / kFits;
  if (registers > kMostRegisters || target.step1 != n0 * static_cast<int64_t>(kSize)) return false;

  using V = Vector<kSize, kRegisterBytes>;
  using T = typename Unaligned<kSize>::type;
  const int64_t end = n0 * n1;
  int64_t row = 0;
  for (; row * n0 + registers * kFits <= end; ++row) {
    const V repeated = *reinterpret_cast<const T*>(source.data + row * source.step1) - V{};
    char* const to = target.data + row * target.step1;
    for (int64_t r = 0; r < registers; ++r)
      std::memcpy(to + r * static_cast<int64_t>(kRegisterBytes), &repeated, kRegisterBytes);
  }
  for (; row < n1; ++row)
    copy_row_sized<kSize>(target.data + row * target.step1, target.step0,
                          source.data + row * source.step1, 0, n0);
  return true;
}

template <size_t kSize>
void copy_block_sized(const BlockSide& target, const BlockSide& source, int64_t n0, int64_t n1,
                      bool stream) {
  constexpr int64_t kContiguous = kSize;
  if (target.step0 == kContiguous && source.step1 == kContiguous && source.step0 != kContiguous &&
      source.step0 != 0 && transpose<kSize>(target, source, n0, n1, stream))
    return;

  // The same with the dimensions exchanged: the target's rows lie along dimension 1.
  if (target.step1 == kContiguous && source.step0 == kContiguous && target.step0 != kContiguous) {
    const BlockSide turned_target = {target.data, target.step1, target.step0};
    const BlockSide turned_source = {source.data, source.step1, source.step0};
    if (transpose<kSize>(turned_target, turned_source, n1, n0, stream)) return;
  }

  if (target.step0 == kContiguous && source.step0 == kContiguous && n1 > 1 &&
      copy_short_rows(target, source, n0 * kContiguous, n1))
    return;

  if constexpr (kSize <= 8) {
    if (target.step0 == kContiguous && source.step0 == 0 &&
        repeat_in_rows<kSize>(target, source, n0, n1))
      return;
  }

  // Few elements along dimension 0: long loops along the other one, over a strip that stays in the
  // first-level cache.
  constexpr int64_t kFew = 8;
  constexpr int64_t kLongest = 512;
  if (n0 <= kFew && n1 > n0) {
    for (int64_t first = 0; first < n1; first += kLongest) {
      char* const to = target.data + first * target.step1;
      const char* const from = source.data + first * source.step1;
      for (int64_t i = 0; i < n0; ++i)
        copy_row_sized<kSize>(to + i * target.step0, target.step1, from + i * source.step0,
                              source.step1, std::min(kLongest, n1 - first));
    }
    return;
  }
  for (int64_t j = 0; j < n1; ++j)
    copy_row_sized<kSize>(target.data + j * target.step1, target.step0,
                          source.data + j * source.step1, source.step0, n0);
}

}  // namespace

void copy_block(const BlockSide& target, const BlockSide& source, size_t size, int64_t n0,
                int64_t n1, bool stream) {
  switch (size) {
    case 1: return copy_block_sized<1>(target, source, n0, n1, stream);
    case 2: return copy_block_sized<2>(target, source, n0, n1, stream);
    case 4: return copy_block_sized<4>(target, source, n0, n1, stream);
    case 8: return copy_block_sized<8>(target, source, n0, n1, stream);
    default: return copy_block_sized<16>(target, source, n0, n1, stream);
  }
}

void copy_row(char* target, int64_t target_step, const char* source, int64_t source_step,
              size_t size, int64_t n) {
  switch (size) {
    case 1: return copy_row_sized<1>(target, target_step, source, source_step, n);
    case 2: return copy_row_sized<2>(target, target_step, source, source_step, n);
    case 4: return copy_row_sized<4>(target, target_step, source, source_step, n);
    case 8: return copy_row_sized<8>(target, target_step, source, source_step, n);
    default: return copy_row_sized<16>(target, target_step, source, source_step, n);
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
