// Max unpooling: puts the maxima of pooling back to their places, among zeros.
#include <algorithm>

#include "aten/Dispatch.h"
#include "aten/native/declarations/cpu/nn/MaxPoolingKernel.h"
#include "aten/native/shared/SizeProduct.h"
#include "aten/ops/contiguous.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

void _max_unpool_kernel(const Tensor& self, const Tensor& indices, IntArrayRef output_size,
                        const Tensor& out0) {
  const Tensor values = self.contiguous();
  const Tensor places = indices.contiguous();
  const int64_t plane = product_of(output_size);

  const size_t leading = self.sizes().size() - output_size.size();
  int64_t planes = 1;
  int64_t pooled = 1;
  for (size_t d = 0; d < self.sizes().size(); ++d)
    (d < leading ? planes : pooled) *= self.sizes()[d];

  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "max_unpool", [&] {
    const scalar_t* from = values.const_data_ptr<scalar_t>();
    const int64_t* place = places.const_data_ptr<int64_t>();
    scalar_t* out = out0.data_ptr<scalar_t>();
    const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, plane));
    parallel_for(0, planes, grain, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        std::fill_n(out + k * plane, plane, scalar_t(0));
        for (int64_t i = k * pooled; i < (k + 1) * pooled; ++i) {
          TORCH_CHECK(place[i] >= 0 && place[i] < plane, "Found an invalid max index: ", place[i],
                      " (output volumes are of size ", output_size, ")");
          out[k * plane + place[i]] = from[i];
        }
      }
    });
  });
}

}  // namespace at::native
