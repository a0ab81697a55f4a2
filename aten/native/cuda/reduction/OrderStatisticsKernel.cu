// The kernels that select one element of every lane, by its rank or by how often it occurs.
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/cuda/Select.h"
#include "aten/native/cuda/SortedLanes.cuh"
#include "aten/native/shared/ViewHelpers.h"

namespace at::native::cuda {

namespace {

/// The last of the first longest run of equal elements, in stable order.
template <class T>
SIMT_KERNEL mode_kernel_of(LaneTable lanes, const uint32_t* positions, int64_t* indices) {
  const int64_t lane = int64_t{simt::block_x()} * kSortThreads + simt::thread_x();
  if (lane >= lanes.count) return;

  const int64_t first = lane * lanes.length;
  const char* const in = lanes.find(0, lane);
  const auto element = [&](int64_t rank) {
    const int64_t i = positions[first + rank] - first;
    return static_cast<opmath_type<T>>(*reinterpret_cast<const T*>(in + i * lanes.steps[0]));
  };

  int64_t best = 0;
  int64_t longest = 0;
  int64_t start = 0;
  auto value = element(0);
  for (int64_t i = 0; i < lanes.length; ++i) {
    const auto next = element(i);
    if (next != value) start = i;
    value = next;
    if (i - start + 1 > longest) {
      longest = i - start + 1;
      best = i;
    }
  }
  indices[lane] = positions[first + best] - first;
}

/// Writes the element of each lane at `indices`, and its index.
template <class Moved>
struct TakeOne {
  LaneTable lanes;
  const int64_t* indices;

  SIMT_DEVICE void operator()(int64_t lane) const {
    const int64_t index = indices[lane];
    *reinterpret_cast<Moved*>(lanes.find(1, lane)) =
        *reinterpret_cast<const Moved*>(lanes.find(0, lane) + index * lanes.steps[0]);
    *reinterpret_cast<int64_t*>(lanes.find(2, lane)) = index;
  }
};

/// Calls find(lanes, indices), which writes the index of each lane's element, and takes these.
template <class F>
void choose(const char* name, const Tensor& self, int64_t dim, const Tensor& values,
            const Tensor& indices, const F& find) {
  if (indices.numel() == 0) return;

  const int64_t d = wrap_dim(dim, self.dim());
  const Tensor value_lanes = with_dim(values, self, d);
  const Tensor index_lanes = with_dim(indices, self, d);
  const LaneTable lanes = lane_table(d, {&self, &value_lanes, &index_lanes});
  const Tensor found = empty_tensor({lanes.count}, kLong, self.device());
  find(lanes, found.data_ptr<int64_t>());

  dispatch_moved(self.itemsize(), [&]<typename Moved>() {
    per_index(name, lanes.count, TakeOne<Moved>{lanes, found.data_ptr<int64_t>()});
  });
}

void choose_by_rank(const char* name, const Tensor& self, int64_t dim, const Tensor& values,
                    const Tensor& indices, SelectedRank rank) {
  choose(name, self, dim, values, indices, [&](const LaneTable& lanes, int64_t* found) {
    select_one(name, lanes, self.scalar_type(), rank, found);
  });
}

}  // namespace

void median_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                   const Tensor& out1) {
  choose_by_rank("median", self, dim, out0, out1, {SelectedRank::Kind::Median});
}

void nanmedian_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                      const Tensor& out1) {
  choose_by_rank("nanmedian", self, dim, out0, out1, {SelectedRank::Kind::MedianOfNumbers});
}

void kthvalue_kernel(const Tensor& self, int64_t k, int64_t dim, bool /*keepdim*/,
                     const Tensor& out0, const Tensor& out1) {
  choose_by_rank("kthvalue", self, dim, out0, out1, {SelectedRank::Kind::Given, k - 1});
}

void mode_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                 const Tensor& out1) {
  choose("mode", self, dim, out0, out1, [&](const LaneTable& lanes, int64_t* found) {
    sort_lanes("mode", lanes, self.scalar_type(), /*descending=*/false,
               [&]<class T, class Key>(const SortedElements<T, Key>& sorted) {
                 c10::cuda::launch("mode", &mode_kernel_of<T>, sort_blocks(lanes.count),
                                   dim3(kSortThreads), 0, c10::cuda::current_stream(), lanes,
                                   sorted.positions, found);
               });
  });
}

}  // namespace at::native::cuda
