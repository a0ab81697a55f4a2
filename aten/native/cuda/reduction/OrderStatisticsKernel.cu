// The kernels that select one element of every lane, by its rank or by how often it occurs.
#include "aten/native/cuda/SortedLanes.cuh"

namespace at::native::cuda {

namespace {

/// The elements of one lane in stable order.
template <class T>
struct OrderedLane {
  const char* in;
  int64_t step;
  int64_t length;
  const int64_t* positions;
  int64_t first;  // the position of the lane's element 0

  SIMT_DEVICE int64_t index(int64_t rank) const { return positions[rank] - first; }
  SIMT_DEVICE auto operator[](int64_t rank) const {
    return static_cast<opmath_type<T>>(*reinterpret_cast<const T*>(in + index(rank) * step));
  }

  /// NaN comes last, so that the numbers' end is found by bisection.
  SIMT_DEVICE int64_t count_numbers() const {
    int64_t low = 0;
    int64_t high = length;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const auto value = (*this)[middle];
      if (value == value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

// What to select: the rank of an element in a lane.

struct ByRank {
  int64_t rank;
  template <class T>
  SIMT_DEVICE int64_t operator()(const OrderedLane<T>&) const {
    return rank;
  }
};

/// The first NaN, if there is one.
struct Median {
  template <class T>
  SIMT_DEVICE int64_t operator()(const OrderedLane<T>& lane) const {
    const int64_t numbers = lane.count_numbers();
    return numbers < lane.length ? numbers : (lane.length - 1) / 2;
  }
};

struct MedianOfNumbers {
  template <class T>
  SIMT_DEVICE int64_t operator()(const OrderedLane<T>& lane) const {
    const int64_t numbers = lane.count_numbers();
    return numbers > 0 ? (numbers - 1) / 2 : 0;
  }
};

/// The last of the first longest run.
struct Mode {
  template <class T>
  SIMT_DEVICE int64_t operator()(const OrderedLane<T>& lane) const {
    int64_t best = 0;
    int64_t longest = 0;
    int64_t start = 0;
    auto value = lane[0];
    for (int64_t i = 0; i < lane.length; ++i) {
      const auto next = lane[i];
      if (next != value) start = i;
      value = next;
      if (i - start + 1 > longest) {
        longest = i - start + 1;
        best = i;
      }
    }
    return best;
  }
};

template <class T, class Choice>
SIMT_KERNEL choose_kernel(LaneTable lanes, const int64_t* positions, Choice choice) {
  const int64_t lane = int64_t{simt::block_x()} * kSortThreads + simt::thread_x();
  if (lane >= lanes.count) return;

  const int64_t first = lane * lanes.length;
  const OrderedLane<T> ordered{lanes.find(0, lane), lanes.steps[0], lanes.length, positions + first,
                               first};
  const int64_t chosen = ordered.index(choice(ordered));
  *reinterpret_cast<T*>(lanes.find(1, lane)) =
      *reinterpret_cast<const T*>(ordered.in + chosen * ordered.step);
  *reinterpret_cast<int64_t*>(lanes.find(2, lane)) = chosen;
}

/// `result` with the reduced dimension as one of size 1, so that its lanes match those of `self`.
Tensor with_dim(const Tensor& result, const Tensor& self, int64_t dim) {
  return result.dim() == self.dim() ? result : result.unsqueeze(dim);
}

template <class Choice>
void choose(const char* name, const Tensor& self, int64_t dim, const Tensor& values,
            const Tensor& indices, const Choice& choice) {
  if (indices.numel() == 0) return;

  const int64_t d = wrap_dim(dim, self.dim());
  const Tensor value_lanes = with_dim(values, self, d);
  const Tensor index_lanes = with_dim(indices, self, d);
  const LaneTable lanes = lane_table(d, {&self, &value_lanes, &index_lanes});
  const SortedLanes sorted(name, lanes, self.scalar_type(), /*descending=*/false);

  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), name, [&] {
    c10::cuda::launch(name, &choose_kernel<scalar_t, Choice>, sort_blocks(lanes.count),
                      dim3(kSortThreads), 0, c10::cuda::current_stream(), lanes, sorted.positions(),
                      choice);
  });
}

}  // namespace

void median_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                   const Tensor& out1) {
  choose("median", self, dim, out0, out1, Median{});
}

void nanmedian_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                      const Tensor& out1) {
  choose("nanmedian", self, dim, out0, out1, MedianOfNumbers{});
}

void kthvalue_kernel(const Tensor& self, int64_t k, int64_t dim, bool /*keepdim*/,
                     const Tensor& out0, const Tensor& out1) {
  choose("kthvalue", self, dim, out0, out1, ByRank{k - 1});
}

void mode_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                 const Tensor& out1) {
  choose("mode", self, dim, out0, out1, Mode{});
}

}  // namespace at::native::cuda
