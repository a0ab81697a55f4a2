// A stable radix sort, least significant digit first. A digit that all keys share is skipped after
// one table look-up.
#include "aten/native/shared/RadixSort.h"

#include <algorithm>
#include <array>

namespace at::native {

namespace {

// 32 bits are three digits, and the counts of one digit fit into the first-level cache.
constexpr int kBits = 11;
constexpr int kValues = 1 << kBits;
// Below this length a comparison sort is faster.
constexpr size_t kShort = 512;

using Counts = std::array<uint32_t, kValues>;

uint32_t digit_of(uint64_t key, int digit) {
  return static_cast<uint32_t>(key >> (kBits * digit)) & (kValues - 1);
}

/// For each digit: how many keys have each value.
std::vector<Counts> count_digits(const std::vector<SortEntry>& entries, int digits) {
  std::vector<Counts> counts(static_cast<size_t>(digits), Counts{});
  for (const SortEntry& entry : entries) {
    for (int digit = 0; digit < digits; ++digit) ++counts[digit][digit_of(entry.key, digit)];
  }
  return counts;
}

/// Moves entries into the order of one digit, stably.
void distribute(const std::vector<SortEntry>& from, std::vector<SortEntry>& to,
                const Counts& counts, int digit) {
  std::array<uint32_t, kValues> places;
  uint32_t place = 0;
  for (int value = 0; value < kValues; ++value) {
    places[value] = place;
    place += counts[value];
  }
  for (const SortEntry& entry : from) to[places[digit_of(entry.key, digit)]++] = entry;
}

}  // namespace

void sort_entries(std::vector<SortEntry>& entries, int key_bytes) {
  if (entries.size() < kShort || entries.size() > UINT32_MAX)
    return std::sort(entries.begin(), entries.end(), is_before);

  const int digits = (8 * key_bytes + kBits - 1) / kBits;
  const std::vector<Counts> counts = count_digits(entries, digits);
  std::vector<SortEntry> other(entries.size());
  for (int digit = 0; digit < digits; ++digit) {
    if (counts[digit][digit_of(entries[0].key, digit)] == entries.size()) continue;
    distribute(entries, other, counts[digit], digit);
    entries.swap(other);
  }
}

}  // namespace at::native
