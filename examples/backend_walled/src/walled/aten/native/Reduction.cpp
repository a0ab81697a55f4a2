// Sums over dimensions.
#include <unordered_map>

#include "Loops.h"
#include "Sums.h"
#include "aten/Dispatch.h"

namespace at::native::walled {

void fill_kernel(const Tensor& self, const Scalar& value);

void sum_kernel(TensorIteratorBase& iter) {
  if (iter.numel() == 0) return fill_kernel(iter.output(), 0);  // sums of no elements

  AT_DISPATCH_ALL_AND_BOOL(iter.common_dtype(), "sum", [&] {
    using wide_t = sum_t<scalar_t>;

    // The place of a result, in whichever order its elements come.
    std::unordered_map<char*, wide_t> sums;
    each_element<2>(iter, [&](char* const* data) {
      sums[data[0]] += static_cast<wide_t>(value_at<scalar_t>(data[1]));
    });
    for (const auto& [place, sum] : sums) {
      const auto result = static_cast<scalar_t>(sum);
      std::memcpy(place, &result, sizeof(result));
    }
  });
}

}  // namespace at::native::walled
