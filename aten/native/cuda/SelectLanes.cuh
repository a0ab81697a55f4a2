// The steps of a selection, which the threads of a block take together. See Note [Selection].
#pragma once
#include "aten/native/cuda/Scan.cuh"
#include "aten/native/cuda/Select.h"
#include "aten/native/shared/RadixSort.h"

namespace at::native::cuda {

inline constexpr int kSelectThreads = kScanThreads;
inline constexpr int kDigitBits = 8;
inline constexpr int kDigitValues = 1 << kDigitBits;
static_assert(kDigitValues == kSelectThreads, "a thread per value of a digit");

/// The lowest bits of a key that follow from the others.
template <class T>
inline constexpr int kImpliedBits = 0;
template <>
inline constexpr int kImpliedBits<c10::Half> = 8;
template <>
inline constexpr int kImpliedBits<c10::BFloat16> = 16;

/// The keys of the elements of one lane.
template <class T>
struct LaneKeys {
  static constexpr int kDigits = key_bytes<T> - kImpliedBits<T> / kDigitBits;
  using Key = std::conditional_t<kDigits <= 4, uint32_t, uint64_t>;

  const char* in;
  int64_t step;
  bool descending;

  SIMT_DEVICE T element(int64_t i) const { return *reinterpret_cast<const T*>(in + i * step); }
  SIMT_DEVICE Key key(int64_t i) const {
    constexpr uint64_t kAll = ~uint64_t{0} >> (64 - 8 * key_bytes<T>);
    const uint64_t key = sort_key(element(i));
    return static_cast<Key>((descending ? key ^ kAll : key) >> kImpliedBits<T>);
  }
  SIMT_DEVICE bool is_number(int64_t i) const {
    const T value = element(i);
    return value == value;
  }
};

/// What is known of the selected element.
template <class Key>
struct Selected {
  Key digits;    // the highest of its key
  int64_t rank;  // among the elements that have these digits
};

struct Count {
  using State = int64_t;
  SIMT_DEVICE State start() const { return 0; }
  SIMT_DEVICE State combine(State a, State b) const { return a + b; }
};

/// Counts for each value of digit number `digit`, 0 being the lowest, the elements in [begin, end)
/// that have the known digits.
template <class T>
SIMT_DEVICE void count_digits(const LaneKeys<T>& keys, int64_t begin, int64_t end, int digit,
                              typename LaneKeys<T>::Key known, unsigned (&counts)[kDigitValues]) {
  counts[simt::thread_x()] = 0;
  simt::sync_block();

  const int shift = digit * kDigitBits;
  for (int64_t i = begin + simt::thread_x(); i < end; i += kSelectThreads) {
    const auto key = keys.key(i) >> shift;
    const bool fits = digit == LaneKeys<T>::kDigits - 1 || key >> kDigitBits == known;
    if (fits) simt::atomic_add(&counts[key & (kDigitValues - 1)], 1u);
  }
  simt::sync_block();
}

/// Adds a digit: thread t has the number of elements whose digit is t.
template <class Key>
SIMT_DEVICE Selected<Key> choose_digit(const Selected<Key>& selected, int64_t count) {
  SIMT_SHARED(next, Selected<Key>);
  const int64_t before = detail::scan_block(Count{}, count).before[0];
  if (before <= selected.rank && selected.rank < before + count) {
    next = {static_cast<Key>(selected.digits << kDigitBits | simt::thread_x()),
            selected.rank - before};
  }
  simt::sync_block();
  const Selected<Key> result = next;
  simt::sync_block();  // before it is overwritten
  return result;
}

/// The number of elements in [begin, end) that are not NaN.
template <class T>
SIMT_DEVICE int64_t count_numbers(const LaneKeys<T>& keys, int64_t begin, int64_t end) {
  int64_t numbers = 0;
  for (int64_t i = begin + simt::thread_x(); i < end; i += kSelectThreads)
    numbers += keys.is_number(i) ? 1 : 0;
  return detail::scan_block(Count{}, numbers).total;
}

/// Elements of a lane, or of a part of it, by how they compare with the selected one.
struct Compared {
  int64_t less;
  int64_t equal;
};

template <class T>
SIMT_DEVICE Compared compare(const LaneKeys<T>& keys, int64_t begin, int64_t end,
                             typename LaneKeys<T>::Key selected) {
  Compared found{0, 0};
  for (int64_t i = begin + simt::thread_x(); i < end; i += kSelectThreads) {
    const auto key = keys.key(i);
    found.less += key < selected ? 1 : 0;
    found.equal += key == selected ? 1 : 0;
  }
  return {detail::scan_block(Count{}, found.less).total,
          detail::scan_block(Count{}, found.equal).total};
}

/// Where selected elements are written to.
struct SelectTarget {
  int64_t* indices;
  int64_t count;   // per lane
  bool only_last;  // the element of the rank, without those before it

  /// An element with `before` ahead of it in its lane.
  SIMT_DEVICE void take(int64_t lane, int64_t i, bool is_less, const Compared& before,
                        int64_t rank) const {
    if (!is_less && before.equal > rank) return;
    if (only_last) {
      if (!is_less && before.equal == rank) indices[lane] = i;
      return;
    }
    const int64_t equal = before.equal <= rank ? before.equal : rank + 1;
    indices[lane * count + before.less + equal] = i;
  }
};

/// Goes through [begin, end) in order; `before` counts the elements ahead of it.
template <class T>
SIMT_DEVICE void take_selected(const LaneKeys<T>& keys, int64_t lane, int64_t begin, int64_t end,
                               const Selected<typename LaneKeys<T>::Key>& selected, Compared before,
                               const SelectTarget& target) {
  constexpr int kWarps = kSelectThreads / 32;
  SIMT_SHARED(found, Compared[kWarps]);
  const unsigned warp = simt::thread_x() / 32;
  const unsigned earlier = (1u << simt::thread_x() % 32) - 1;

  for (int64_t tile = begin; tile < end; tile += kSelectThreads) {
    const int64_t i = tile + simt::thread_x();
    const auto key = i < end ? keys.key(i) : selected.digits;
    const bool is_less = i < end && key < selected.digits;
    const bool is_equal = i < end && key == selected.digits;
    const unsigned less = simt::ballot(simt::kFullMask, is_less);
    const unsigned equal = simt::ballot(simt::kFullMask, is_equal);
    if (simt::thread_x() % 32 == 0) found[warp] = {simt::popcount(less), simt::popcount(equal)};
    simt::sync_block();

    Compared mine = before;
    for (unsigned w = 0; w < kWarps; ++w) {
      if (w < warp) mine = {mine.less + found[w].less, mine.equal + found[w].equal};
      before = {before.less + found[w].less, before.equal + found[w].equal};
    }
    mine.less += simt::popcount(less & earlier);
    mine.equal += simt::popcount(equal & earlier);
    if (is_less || is_equal) target.take(lane, i, is_less, mine, selected.rank);
    simt::sync_block();  // before the counts are overwritten
  }
}

}  // namespace at::native::cuda
