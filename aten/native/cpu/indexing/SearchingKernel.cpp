// The kernel of searchsorted: a binary search for every value in its lane of the sequence.
#include "aten/native/declarations/cpu/indexing/SearchingKernel.h"

#include <algorithm>

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

constexpr int64_t kTogether = 16;  // values that are searched for at once

/// find_place for `count` values, at most kTogether. Their steps do not wait for each other, and
/// masks replace branches, half of which would be mispredicted.
template <typename T, typename Index>
void find_places(const T* elements, int64_t n, const T* values, int64_t count, bool right,
                 Index* found) {
  int64_t begin[kTogether] = {};
  int64_t left[kTogether];
  for (int64_t w = 0; w < count; ++w) left[w] = n;

  for (int64_t most = n; most > 0; most /= 2) {
    for (int64_t w = 0; w < count; ++w) {
      // A search that has ended may be behind the last element.
      const int64_t half = left[w] / 2;
      const T middle = elements[std::min(begin[w] + half, n - 1)];
      const bool is_found = right ? middle > values[w] : middle >= values[w];

      // All bits, if the search goes on behind the middle.
      const int64_t behind = -static_cast<int64_t>(!is_found & (left[w] > 0));
      begin[w] += (half + 1) & behind;
      left[w] = half + ((left[w] - 2 * half - 1) & behind);
    }
  }

  for (int64_t w = 0; w < count; ++w) found[w] = static_cast<Index>(begin[w]);
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
    for (int64_t i = begin; places != nullptr && i < end; ++i) {
      const int64_t start = i / lane * n;
      found[i] = static_cast<Index>(find_place(n, values[i], right, [&](int64_t place) {
        return elements[start + places[start + place]];
      }));
    }

    for (int64_t i = begin; places == nullptr && i < end;) {
      const int64_t count = std::min({kTogether, lane - i % lane, end - i});
      find_places(elements + i / lane * n, n, values + i, count, right, found + i);
      i += count;
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
