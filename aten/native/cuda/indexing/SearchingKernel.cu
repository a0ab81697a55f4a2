// The kernel of searchsorted: one thread for each value, which searches its lane of the sequence.
#include "aten/Dispatch.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/cuda/WideDivisor.h"
#include "aten/native/functors/FindPlace.h"
#include "aten/native/shared/OrderKeys.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/to.h"

namespace at::native::cuda {

namespace {

/// One vector serves all values; otherwise each lane of values has its own lane of the sequence.
template <class T>
struct Search {
  WideDivisor lane;
  int64_t n;
  const T* sequence;
  const int64_t* sorter;  // may be null
  const T* values;
  void* out;
  bool right, narrow;

  SIMT_DEVICE void operator()(int64_t index, simt::Reporter reporter) const {
    const int64_t start = lane.quotient(index) * n;
    const int64_t place = find_place(
        n, values[index], right, [&](int64_t middle) { return element(start, middle, reporter); });
    if (narrow) {
      static_cast<int32_t*>(out)[index] = static_cast<int32_t>(place);
    } else {
      static_cast<int64_t*>(out)[index] = place;
    }
  }

  SIMT_DEVICE T element(int64_t start, int64_t place, const simt::Reporter& reporter) const {
    if (sorter == nullptr) return sequence[start + place];
    int64_t from = sorter[start + place];
    if (from < 0 || from >= n) {
      simt::report(reporter, c10::cuda::ReportKind::ValueRange, 5, from, n);
      from = 0;
    }
    return sequence[start + from];
  }
};

}  // namespace

void searchsorted_kernel(const Tensor& sorted_sequence, const Tensor& self, bool /*out_int32*/,
                         bool right, std::optional<std::string_view> side, const Tensor& sorter,
                         const Tensor& out0) {
  if (out0.numel() == 0) return;

  const Tensor places = sorter.defined() ? sorter.contiguous() : sorter;
  const Tensor operands[] = {sorted_sequence, self};
  const ScalarType type = result_type(TensorList(operands, 2));
  const bool from_right = right || (side.has_value() && *side == "right");
  const int64_t lane = sorted_sequence.dim() == 1 ? self.numel() : self.size(-1);

  const auto search = [&]<class T>() {
    const Tensor elements = sorted_sequence.to(type).to(scalar_type_of<T>).contiguous();
    const Tensor values = self.to(type).to(scalar_type_of<T>).contiguous();
    per_index("searchsorted", out0.numel(),
              Search<T>{WideDivisor(lane), sorted_sequence.size(-1), elements.const_data_ptr<T>(),
                        places.defined() ? places.const_data_ptr<int64_t>() : nullptr,
                        values.const_data_ptr<T>(), out0.data(), from_right,
                        out0.scalar_type() == kInt});
  };
  AT_DISPATCH_REAL(type, "searchsorted", [&] { search.template operator()<key_type<scalar_t>>(); });
}

}  // namespace at::native::cuda
