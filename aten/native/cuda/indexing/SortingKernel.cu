// The kernels of sort and topk. Equal elements always keep their order.
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/cuda/Select.h"
#include "aten/native/cuda/SortedLanes.cuh"

// Note [Short lanes]
// A lane of up to 64 elements is ordered by counting, for each of its elements, those that come
// before it. topk of longer lanes selects its elements, and orders only these.

namespace at::native::cuda {

namespace {

constexpr int64_t kShortLane = 64;

/// Elements of the lanes of operand 0: those at `chosen`, `length` indices for each lane, or all.
struct Candidates {
  LaneTable lanes;
  int64_t length;
  const int64_t* chosen;

  SIMT_DEVICE int64_t index(int64_t lane, int64_t i) const {
    return chosen == nullptr ? i : chosen[lane * length + i];
  }

  /// Element number `index` of a lane goes to place `rank` of the results.
  template <class Moved>
  SIMT_DEVICE void put(int64_t lane, int64_t rank, int64_t index) const {
    *reinterpret_cast<Moved*>(lanes.find(1, lane) + rank * lanes.steps[1]) =
        *reinterpret_cast<const Moved*>(lanes.find(0, lane) + index * lanes.steps[0]);
    *reinterpret_cast<int64_t*>(lanes.find(2, lane) + rank * lanes.steps[2]) = index;
  }
};

/// Puts candidate i of a lane where the number of those before it says. Indices are those of a lane
/// after another.
template <class T>
struct OrderByCounting {
  Candidates candidates;
  int64_t kept;
  uint64_t reversed;

  SIMT_DEVICE void operator()(int64_t at) const {
    const int64_t length = candidates.length;
    const int64_t lane = at / length;
    const int64_t i = at - lane * length;
    const char* const in = candidates.lanes.find(0, lane);
    const uint64_t key = key_of(in, candidates.index(lane, i));

    int64_t rank = 0;
    for (int64_t j = 0; j < length; ++j) {
      const uint64_t other = key_of(in, candidates.index(lane, j));
      rank += other < key || (other == key && j < i) ? 1 : 0;
    }
    if (rank < kept) candidates.template put<T>(lane, rank, candidates.index(lane, i));
  }

  SIMT_DEVICE uint64_t key_of(const char* in, int64_t index) const {
    return sort_key(*reinterpret_cast<const T*>(in + index * candidates.lanes.steps[0])) ^ reversed;
  }
};

void order_by_counting(const char* name, ScalarType type, const Candidates& candidates,
                       int64_t kept, bool descending) {
  dispatch_sortable(type, name, [&]<typename T>() {
    per_index(name, candidates.lanes.count * candidates.length,
              OrderByCounting<T>{candidates, kept, descending ? ~uint64_t{0} : 0});
  });
}

/// Takes the first `kept` candidates of every lane.
template <class T, class Key>
struct TakeSorted {
  Candidates candidates;
  SortedElements<T, Key> sorted;
  WideDivisor kept;

  SIMT_DEVICE void operator()(int64_t at) const {
    const LaneTable& lanes = candidates.lanes;
    const int64_t length = candidates.length;
    const int64_t lane = kept.quotient(at);
    const int64_t rank = at - lane * kept.value();
    const int64_t place = lane * length + rank;
    const int64_t index = candidates.index(lane, sorted.positions[place] - lane * length);

    *reinterpret_cast<T*>(lanes.find(1, lane) + rank * lanes.steps[1]) =
        sorted.element(place, lanes.find(0, lane) + index * lanes.steps[0]);
    *reinterpret_cast<int64_t*>(lanes.find(2, lane) + rank * lanes.steps[2]) = index;
  }
};

/// `sorted_lanes` are those of the candidates, which are sorted.
void take_sorted(const char* name, const LaneTable& sorted_lanes, ScalarType type, bool descending,
                 const Candidates& candidates, int64_t kept) {
  sort_lanes(name, sorted_lanes, type, descending,
             [&]<class T, class Key>(const SortedElements<T, Key>& sorted) {
               per_index(name, candidates.lanes.count * kept,
                         TakeSorted<T, Key>{candidates, sorted, WideDivisor(kept)});
             });
}

/// The chosen elements themselves, lane after lane.
template <class Moved>
struct GatherChosen {
  Candidates candidates;
  Moved* out;

  SIMT_DEVICE void operator()(int64_t at) const {
    const int64_t lane = at / candidates.length;
    const LaneTable& lanes = candidates.lanes;
    out[at] = *reinterpret_cast<const Moved*>(lanes.find(0, lane) +
                                              candidates.chosen[at] * lanes.steps[0]);
  }
};

Tensor gather_chosen(const char* name, const Tensor& self, const Candidates& candidates) {
  const Tensor result =
      empty_tensor({candidates.lanes.count, candidates.length}, self.scalar_type(), self.device());
  dispatch_moved(self.itemsize(), [&]<typename Moved>() {
    per_index(name, result.numel(),
              GatherChosen<Moved>{candidates, static_cast<Moved*>(result.data())});
  });
  return result;
}

/// Orders the first `kept` elements of every lane.
void order(const char* name, const Tensor& self, int64_t dim, int64_t kept, bool descending,
           const Tensor& values, const Tensor& indices) {
  if (self.numel() == 0 || kept == 0) return;

  // What is written over is read again to the end.
  const Tensor source = self.storage().get() == values.storage().get() ? self.clone() : self;
  const LaneTable lanes = lane_table(wrap_dim(dim, self.dim()), {&source, &values, &indices});
  const ScalarType type = self.scalar_type();
  const Candidates all{lanes, lanes.length, nullptr};

  if (lanes.length <= kShortLane) return order_by_counting(name, type, all, kept, descending);
  if (kept > lanes.length / 2) return take_sorted(name, lanes, type, descending, all, kept);

  const Tensor chosen = empty_tensor({lanes.count, kept}, kLong, self.device());
  select_first(name, lanes, type, descending, kept, chosen.data_ptr<int64_t>());
  const Candidates first{lanes, kept, chosen.data_ptr<int64_t>()};
  if (kept <= kShortLane) return order_by_counting(name, type, first, kept, descending);

  const Tensor elements = gather_chosen(name, self, first);
  take_sorted(name, lane_table(1, {&elements}), type, descending, first, kept);
}

}  // namespace

void sort_kernel(const Tensor& self, std::optional<bool> /*stable*/, int64_t dim, bool descending,
                 const Tensor& out0, const Tensor& out1) {
  const int64_t length = lane_size(self, wrap_dim(dim, self.dim()));
  order("sort", self, dim, length, descending, out0, out1);
}

void topk_kernel(const Tensor& self, int64_t k, int64_t dim, bool largest, bool /*sorted*/,
                 const Tensor& out0, const Tensor& out1) {
  // A 0-dimensional tensor returns its one element for every k.
  order("topk", self, dim, self.dim() == 0 ? 1 : k, largest, out0, out1);
}

}  // namespace at::native::cuda
