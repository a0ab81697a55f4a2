// The kernel of searchsorted: a binary search for every value in its lane of the sequence.
#include "aten/native/declarations/cpu/indexing/SearchingKernel.h"
#include "aten/Dispatch.h"
#include "aten/native/functors/FindPlace.h"
#include "aten/native/shared/OrderKeys.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

namespace {

void check_sorter_values(const Tensor& sorter, int64_t n) {
  const auto* places = static_cast<const int64_t*>(sorter.data());
  for (int64_t i = 0; i < sorter.numel(); ++i) {
    TORCH_CHECK(places[i] >= 0 && places[i] < n,
                "torch.searchsorted(): sorter index out of range: ", places[i], " of ", n);
  }
}

template <typename T, typename Index>
void search(const Tensor& sequence, const Tensor& sorter, const Tensor& self, bool right,
            const Tensor& out) {
  // One vector serves all values; otherwise each lane of values has its own lane of the sequence.
  const int64_t n = sequence.size(-1);
  const int64_t lane = sequence.dim() == 1 ? self.numel() : self.size(-1);

  const auto* values = static_cast<const T*>(self.data());
  const auto* elements = static_cast<const T*>(sequence.data());
  const int64_t* places = sorter.defined() ? static_cast<const int64_t*>(sorter.data()) : nullptr;
  auto* found = static_cast<Index*>(out.data());

  parallel_for(0, self.numel(), 2048, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t start = i / lane * n;
      found[i] = static_cast<Index>(find_place(n, values[i], right, [&](int64_t place) {
        return elements[start + (places == nullptr ? place : places[start + place])];
      }));
    }
  });
}

template <typename T>
void search_as(const Tensor& sequence, const Tensor& sorter, const Tensor& self, bool right,
               const Tensor& out) {
  const Tensor elements = sequence.to(scalar_type_of<T>).contiguous();
  const Tensor values = self.to(scalar_type_of<T>).contiguous();
  if (out.scalar_type() == kInt) {
    search<T, int32_t>(elements, sorter, values, right, out);
  } else {
    search<T, int64_t>(elements, sorter, values, right, out);
  }
}

}  // namespace

void searchsorted_kernel(const Tensor& sorted_sequence, const Tensor& self, bool /*out_int32*/,
                         bool right, std::optional<std::string_view> side, const Tensor& sorter,
                         const Tensor& out0) {
  const Tensor places = sorter.defined() ? sorter.contiguous() : sorter;
  if (sorter.defined()) check_sorter_values(places, sorted_sequence.size(-1));
  if (out0.numel() == 0) return;

  const Tensor operands[] = {sorted_sequence, self};
  const ScalarType type = result_type(TensorList(operands, 2));
  const bool from_right = right || (side.has_value() && *side == "right");
  AT_DISPATCH_REAL(type, "searchsorted", [&] {
    search_as<key_type<scalar_t>>(sorted_sequence.to(type), places, self.to(type), from_right,
                                  out0);
  });
}

}  // namespace at::native
