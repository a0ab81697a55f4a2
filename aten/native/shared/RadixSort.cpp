// A stable radix sort of packed entries, and a selection digit by digit.
//
// Note [Packed entries]
// An entry is one 64-bit word: 32 bits of the key above 32 bits of the index. Words are half as
// large as a key and an index apart, and their order as numbers is the order of a stable sort.
#include "aten/native/shared/RadixSort.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>

namespace at::native {

namespace {

// Below this length a comparison sort is faster.
constexpr int64_t kShort = 128;
// From this length on, fewer passes gain more than counts in the first-level cache.
constexpr int64_t kMany = 1 << 15;

/// Sorts packed entries by their keys, least significant digit first. A digit that all keys share
/// is skipped. The result is in `entries` or in `spare`, whichever is returned.
template <int kBits>
uint64_t* sort_by_digits(uint64_t* entries, uint64_t* spare, int64_t n) {
  constexpr int kDigits = (32 + kBits - 1) / kBits;
  constexpr int kValues = 1 << kBits;
  const auto digit_of = [](uint64_t entry, int digit) {
    return (entry >> (32 + kBits * digit)) & (kValues - 1);
  };

  std::array<std::array<uint32_t, kValues>, kDigits> counts{};
  for (int64_t i = 0; i < n; ++i) {
    for (int digit = 0; digit < kDigits; ++digit) ++counts[digit][digit_of(entries[i], digit)];
  }

  for (int digit = 0; digit < kDigits; ++digit) {
    auto& places = counts[digit];
    if (places[digit_of(entries[0], digit)] == n) continue;

    std::exclusive_scan(places.begin(), places.end(), places.begin(), uint32_t{0});
    for (int64_t i = 0; i < n; ++i) spare[places[digit_of(entries[i], digit)]++] = entries[i];
    std::swap(entries, spare);
  }
  return entries;
}

uint64_t* sort_packed(uint64_t* entries, uint64_t* spare, int64_t n) {
  if (n < kShort) {
    std::sort(entries, entries + n);
    return entries;
  }
  return n < kMany ? sort_by_digits<8>(entries, spare, n) : sort_by_digits<11>(entries, spare, n);
}

uint64_t packed(uint64_t key, int64_t index) { return key << 32 | static_cast<uint64_t>(index); }

int64_t index_of(uint64_t entry) { return static_cast<uint32_t>(entry); }

/// Sorts entries of equal packed keys, which are in the order of their indices, by their whole
/// keys.
void sort_run(uint64_t* run, int64_t n, const uint64_t* keys, uint64_t low_bits) {
  constexpr int64_t kFew = 16;
  if (n <= kFew) {
    for (int64_t i = 1; i < n; ++i) {
      const uint64_t entry = run[i];
      const uint64_t key = keys[index_of(entry)];
      int64_t place = i;
      for (; place > 0 && keys[index_of(run[place - 1])] > key; --place)
        run[place] = run[place - 1];
      run[place] = entry;
    }
    return;
  }

  const auto words = std::make_unique_for_overwrite<uint64_t[]>(static_cast<size_t>(2 * n));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t index = index_of(run[i]);
    words[i] = packed(keys[index] & low_bits, index);
  }
  std::memcpy(run, sort_packed(words.get(), words.get() + n, n), n * sizeof(uint64_t));
}

/// Sorts keys of 64 bits: by the highest 32 bits in which they differ, and within runs of equal
/// ones by the bits below. Returns the sorted entries, in either of the memories.
uint64_t* sort_wide(uint64_t* keys, uint64_t* entries, uint64_t* spare, int64_t n, uint64_t range) {
  const int shift = std::bit_width(range) - 32;
  for (int64_t i = 0; i < n; ++i) entries[i] = packed(keys[i] >> shift, i);
  uint64_t* sorted = sort_packed(entries, spare, n);

  for (int64_t start = 0; start < n;) {
    int64_t end = start + 1;
    while (end < n && sorted[end] >> 32 == sorted[start] >> 32) ++end;
    if (end - start > 1) sort_run(sorted + start, end - start, keys, (uint64_t{1} << shift) - 1);
    start = end;
  }
  return sorted;
}

void write_indices(const uint64_t* sorted, int64_t n, int64_t* order) {
  for (int64_t i = 0; i < n; ++i) order[i] = index_of(sorted[i]);
}

}  // namespace

void sort_indices(uint64_t* keys, int64_t n, int key_bytes, int64_t* order) {
  if (n == 0) return;
  if (n > int64_t{UINT32_MAX}) {
    std::iota(order, order + n, int64_t{0});
    std::stable_sort(order, order + n, [keys](int64_t a, int64_t b) { return keys[a] < keys[b]; });
    return;
  }

  // What all keys have in common is subtracted: small integers of either sign need few digits.
  uint64_t range = UINT32_MAX;
  if (key_bytes > 4) {
    const auto [least, most] = std::minmax_element(keys, keys + n);
    const uint64_t base = *least;
    range = *most - base;
    for (int64_t i = 0; i < n; ++i) keys[i] -= base;
  }

  // The memory of the result also serves the sort.
  auto* spare = reinterpret_cast<uint64_t*>(order);
  if (range > UINT32_MAX) {
    const auto entries = std::make_unique_for_overwrite<uint64_t[]>(static_cast<size_t>(n));
    return write_indices(sort_wide(keys, entries.get(), spare, n, range), n, order);
  }
  for (int64_t i = 0; i < n; ++i) keys[i] = packed(keys[i], i);
  write_indices(sort_packed(keys, spare, n), n, order);
}

int64_t index_at_rank(SortEntry* entries, int64_t n, int64_t rank, int key_bytes) {
  if (n < kShort) {
    std::nth_element(entries, entries + rank, entries + n, is_before);
    return entries[rank].index;
  }

  // Of each digit only the entries that share it with the one at this rank are kept, in order.
  for (int shift = 8 * key_bytes - 8; shift >= 0; shift -= 8) {
    const auto digit_of = [=](const SortEntry& entry) { return (entry.key >> shift) & 0xff; };
    std::array<int64_t, 256> counts{};
    for (int64_t i = 0; i < n; ++i) ++counts[digit_of(entries[i])];

    uint64_t digit = 0;
    for (; rank >= counts[digit]; ++digit) rank -= counts[digit];
    if (counts[digit] == n) continue;

    int64_t kept = 0;
    for (int64_t i = 0; i < n; ++i) {
      const SortEntry entry = entries[i];
      entries[kept] = entry;
      kept += digit_of(entry) == digit ? 1 : 0;
    }
    n = kept;
  }
  return entries[rank].index;
}

}  // namespace at::native
