// The kernels of sort and topk. Equal elements always keep their order.
#include "aten/native/cuda/SortedLanes.cuh"

namespace at::native::cuda {

namespace {

/// Writes the first `kept` elements of every lane in order, and their indices: operands 1 and 2.
template <class Moved>
SIMT_KERNEL take_sorted_kernel(LaneTable lanes, const int64_t* positions, int64_t kept) {
  const int64_t at = int64_t{simt::block_x()} * kSortThreads + simt::thread_x();
  if (at >= lanes.count * kept) return;

  const int64_t lane = at / kept;
  const int64_t rank = at - lane * kept;
  const int64_t index = positions[lane * lanes.length + rank] - lane * lanes.length;
  const char* const in = lanes.find(0, lane) + index * lanes.steps[0];
  *reinterpret_cast<Moved*>(lanes.find(1, lane) + rank * lanes.steps[1]) =
      *reinterpret_cast<const Moved*>(in);
  *reinterpret_cast<int64_t*>(lanes.find(2, lane) + rank * lanes.steps[2]) = index;
}

void take_sorted(const char* name, const Tensor& self, int64_t dim, int64_t kept, bool descending,
                 const Tensor& values, const Tensor& indices) {
  if (self.numel() == 0 || kept == 0) return;

  // What is written over is read again to the end.
  const Tensor source = self.storage().get() == values.storage().get() ? self.clone() : self;
  const LaneTable lanes = lane_table(wrap_dim(dim, self.dim()), {&source, &values, &indices});
  const SortedLanes sorted(name, lanes, self.scalar_type(), descending);
  dispatch_moved(self.itemsize(), [&]<typename Moved>() {
    c10::cuda::launch(name, &take_sorted_kernel<Moved>, sort_blocks(lanes.count * kept),
                      dim3(kSortThreads), 0, c10::cuda::current_stream(), lanes, sorted.positions(),
                      kept);
  });
}

}  // namespace

void sort_kernel(const Tensor& self, std::optional<bool> /*stable*/, int64_t dim, bool descending,
                 const Tensor& out0, const Tensor& out1) {
  const int64_t length = lane_size(self, wrap_dim(dim, self.dim()));
  take_sorted("sort", self, dim, length, descending, out0, out1);
}

void topk_kernel(const Tensor& self, int64_t k, int64_t dim, bool largest, bool /*sorted*/,
                 const Tensor& out0, const Tensor& out1) {
  // A 0-dimensional tensor returns its one element for every k.
  take_sorted("topk", self, dim, self.dim() == 0 ? 1 : k, largest, out0, out1);
}

}  // namespace at::native::cuda
