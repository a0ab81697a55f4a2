// The largest and smallest elements so far, and where they were met.
#include "aten/native/declarations/cpu/reduction/RunningExtremumKernel.h"
#include "aten/Dispatch.h"
#include "aten/iteration/Lanes.h"

namespace at::native {

namespace {

/// Whether `value` takes the place of `best`: also when equal, and always when it is nan, which no
/// number replaces.
template <typename T, bool kMax>
bool replaces(T value, T best) {
  if (value != value) return true;
  return best == best && (kMax ? value >= best : value <= best);
}

template <bool kMax>
void run(const char* name, const Tensor& self, int64_t dim, const Tensor& values,
         const Tensor& indices) {
  if (self.numel() == 0) return;
  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t n = lane_size(self, d), stride = lane_stride(self, d),
                out_stride = lane_stride(values, d);
  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), name, [&] {
    LaneIterator(d, {&self, &values, &indices}).for_each(n, [&](char* const* data) {
      const auto* in = reinterpret_cast<const scalar_t*>(data[0]);
      auto* value = reinterpret_cast<scalar_t*>(data[1]);
      auto* index = reinterpret_cast<int64_t*>(data[2]);
      scalar_t best = in[0];
      int64_t where = 0;
      for (int64_t i = 0; i < n; ++i) {
        if (replaces<scalar_t, kMax>(in[i * stride], best)) {
          best = in[i * stride];
          where = i;
        }
        value[i * out_stride] = best;
        index[i * out_stride] = where;
      }
    });
  });
}

}  // namespace

void cummax_kernel(const Tensor& self, int64_t dim, const Tensor& out0, const Tensor& out1) {
  run<true>("cummax", self, dim, out0, out1);
}

void cummin_kernel(const Tensor& self, int64_t dim, const Tensor& out0, const Tensor& out1) {
  run<false>("cummin", self, dim, out0, out1);
}

}  // namespace at::native
