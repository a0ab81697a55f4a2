// Orders short lanes: a register holds the same element of several lanes, and the rank of an
// element is the number of those before it: no branches to predict. Compiled with -O3.
#include "aten/native/cpu/shared/ShortLanes.h"

#include <cstring>
#include <limits>
#include <type_traits>

#include "aten/Dispatch.h"
#include "aten/iteration/Register.h"
#include "aten/native/shared/RadixSort.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// Elements of a group in registers: element i of all lanes, then element i + 1.
template <typename T>
struct Group {
  alignas(64) T at[kShortLane * kShortLaneGroup];

  T* row(int64_t i) { return at + i * kShortLaneGroup; }
  const T* row(int64_t i) const { return at + i * kShortLaneGroup; }
};

template <typename T>
using KeyOf = std::conditional_t<key_bytes<T> == 8, int64_t, int32_t>;

/// A sort key as a signed integer of the same order: all instruction sets compare these.
template <typename Key>
Key signed_key(uint64_t key) {
  using Bits = std::make_unsigned_t<Key>;
  return static_cast<Key>(static_cast<Bits>(key) ^
                          static_cast<Bits>(std::numeric_limits<Key>::min()));
}

/// The signed key of nan, which integers do not have.
template <typename Key>
struct NanKey {
  Key key;
  bool exists;
};

template <typename T>
NanKey<KeyOf<T>> signed_nan_key() {
  return {signed_key<KeyOf<T>>(nan_key<T>), nan_key<T> != 0};
}

/// The number of earlier keys of each lane, for every key of it.
template <typename Key>
void rank(const Register<Key>* keys, int64_t n, Register<Key>* ranks) {
  for (int64_t i = 0; i < n; ++i) {
    const Register<Key> key = keys[i];
    Register<Key> place = Register<Key>{} + static_cast<Key>(i);

    // A true comparison is -1.
    for (int64_t j = 0; j < i; ++j) {
      const Register<Key> is_before = key < keys[j];
      ranks[j] -= is_before;
      place += is_before;
    }
    ranks[i] = place;
  }
}

/// The index of the element of rank `wanted` in each lane.
template <typename Key>
Register<Key> index_at(const Register<Key>* ranks, int64_t n, Register<Key> wanted) {
  Register<Key> found{};
  for (int64_t i = 1; i < n; ++i)
    found = ranks[i] == wanted ? Register<Key>{} + static_cast<Key>(i) : found;
  return found;
}

template <typename Key>
Register<Key> count_nan(const Register<Key>* keys, int64_t n, NanKey<Key> nan) {
  Register<Key> count{};
  for (int64_t i = 0; nan.exists && i < n; ++i) count -= keys[i] == nan.key;
  return count;
}

/// The rank of the median of each lane.
template <typename Key>
Register<Key> median_rank(LaneChoice choice, Register<Key> nans, int64_t n) {
  const auto size = static_cast<Key>(n);
  if (choice == LaneChoice::Median)
    return nans == 0 ? Register<Key>{} + (size - 1) / 2 : size - nans;

  const Register<Key> last = size - 1 - nans;
  return (last < 0 ? Register<Key>{} : last) / 2;
}

/// The end of the first longest run of equal keys, which are compared with those before them.
template <typename Key>
Register<Key> index_of_mode(const Register<Key>* keys, int64_t n, NanKey<Key> nan) {
  Register<Key> longest = Register<Key>{} + 1;
  Register<Key> mode = keys[0];
  Register<Key> found{};

  for (int64_t i = 1; i < n; ++i) {
    const Register<Key> key = keys[i];
    Register<Key> run = Register<Key>{} + 1;
    for (int64_t j = 0; j < i; ++j) run -= key == keys[j];
    if (nan.exists) run = key == nan.key ? Register<Key>{} + 1 : run;

    const Register<Key> is_better = (run > longest) | ((run == longest) & (key < mode));
    longest = is_better ? run : longest;
    mode = is_better ? key : mode;
    found = is_better ? Register<Key>{} + static_cast<Key>(i) : found;
  }
  return found;
}

/// Calls f(keys, store) for a register of lanes after another; store(r, indices) keeps the indices
/// of the r-th result.
template <typename Key, typename F>
void for_each_register(const Group<Key>& keys, int64_t n, int64_t width, Group<Key>& places,
                       const F& f) {
  constexpr int64_t kLanes = kRegisterBytes / sizeof(Key);
  for (int64_t first = 0; first < width; first += kLanes) {
    Register<Key> lanes[kShortLane];
    for (int64_t i = 0; i < n; ++i) std::memcpy(&lanes[i], keys.row(i) + first, kRegisterBytes);
    f(static_cast<const Register<Key>*>(lanes), [&](int64_t r, Register<Key> indices) {
      std::memcpy(places.row(r) + first, &indices, kRegisterBytes);
    });
  }
}

/// Of each lane, the indices of the first `count` elements in order.
template <typename Key>
void sort_keys(const Group<Key>& keys, int64_t n, int64_t width, int64_t count,
               Group<Key>& places) {
  for_each_register(keys, n, width, places, [=](const Register<Key>* lanes, const auto& store) {
    Register<Key> ranks[kShortLane];
    rank<Key>(lanes, n, ranks);
    for (int64_t r = 0; r < count; ++r)
      store(r, index_at<Key>(ranks, n, Register<Key>{} + static_cast<Key>(r)));
  });
}

/// Of each lane, the index of the selected element.
template <typename Key>
void choose_keys(const Group<Key>& keys, int64_t n, int64_t width, NanKey<Key> nan,
                 Selection selection, Group<Key>& places) {
  const LaneChoice choice = selection.choice;
  for_each_register(keys, n, width, places, [=](const Register<Key>* lanes, const auto& store) {
    if (choice == LaneChoice::Mode) return store(0, index_of_mode<Key>(lanes, n, nan));

    Register<Key> ranks[kShortLane];
    rank<Key>(lanes, n, ranks);
    store(0, index_at<Key>(ranks, n,
                           choice == LaneChoice::Rank
                               ? Register<Key>{} + static_cast<Key>(selection.rank)
                               : median_rank<Key>(choice, count_nan<Key>(lanes, n, nan), n)));
  });
}

/// Writes the first `count` elements named by `places`, and the places.
template <typename T, typename Key>
void write(const ShortLanes& lanes, const Group<T>& elements, const Group<Key>& places,
           int64_t count) {
  const auto write_one = [&](int64_t w, int64_t r) {
    const int64_t place = places.row(r)[w];
    *reinterpret_cast<T*>(lanes.values.data + w * lanes.values.step0 + r * lanes.values.step1) =
        elements.row(place)[w];
    *reinterpret_cast<int64_t*>(lanes.indices.data + w * lanes.indices.step0 +
                                r * lanes.indices.step1) = place;
  };

  if (lanes.indices.step0 < lanes.indices.step1 || count == 1) {
    for (int64_t r = 0; r < count; ++r) {
      for (int64_t w = 0; w < lanes.width; ++w) write_one(w, r);
    }
  } else {
    for (int64_t w = 0; w < lanes.width; ++w) {
      for (int64_t r = 0; r < count; ++r) write_one(w, r);
    }
  }
}

/// Calls find(keys, places), and writes the `count` elements of each lane that it finds.
template <typename T, typename Find>
void order(const ShortLanes& lanes, bool descending, int64_t count, const Find& find) {
  using Key = KeyOf<T>;
  constexpr int64_t kSize = sizeof(T);

  Group<T> elements;
  const BlockSide staged = {reinterpret_cast<char*>(elements.at), kSize, kShortLaneGroup * kSize};
  copy_block(staged, lanes.elements, sizeof(T), lanes.width, lanes.size, /*stream=*/false);

  Group<Key> keys;
  const Key turned = descending ? Key{-1} : Key{0};
  for (int64_t i = 0; i < lanes.size; ++i) {
    const T* from = elements.row(i);
    Key* to = keys.row(i);
    for (int64_t w = 0; w < lanes.width; ++w) to[w] = signed_key<Key>(sort_key(from[w])) ^ turned;
  }

  Group<Key> places;
  find(keys, places);
  write<T>(lanes, elements, places, count);
}

}  // namespace

void sort_short_lanes(ScalarType type, const ShortLanes& lanes, bool descending, int64_t count) {
  AT_DISPATCH_REAL_AND_BOOL(type, "sort", [&] {
    order<scalar_t>(lanes, descending, count, [&](const auto& keys, auto& places) {
      sort_keys(keys, lanes.size, lanes.width, count, places);
    });
  });
}

void choose_in_short_lanes(const char* name, ScalarType type, const ShortLanes& lanes,
                           const Selection& selection) {
  AT_DISPATCH_REAL_AND_BOOL(type, name, [&] {
    order<scalar_t>(lanes, false, 1, [&](const auto& keys, auto& places) {
      choose_keys(keys, lanes.size, lanes.width, signed_nan_key<scalar_t>(), selection, places);
    });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
