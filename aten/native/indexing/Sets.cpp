// isin: tests whether elements are members of a set of values.
#include "aten/native/declarations/indexing/Sets.h"
#include "aten/ops/_unique2.h"
#include "aten/ops/clamp_max.h"
#include "aten/ops/eq.h"
#include "aten/ops/full.h"
#include "aten/ops/isin.h"
#include "aten/ops/masked_select.h"
#include "aten/ops/ne.h"
#include "aten/ops/reshape.h"
#include "aten/ops/scalar_tensor.h"
#include "aten/ops/searchsorted.h"
#include "aten/ops/sort.h"
#include "aten/ops/take.h"

namespace at::native {

namespace {

void check_isin_dtype(const Tensor& tensor) {
  TORCH_CHECK(!tensor.is_complex() && tensor.scalar_type() != kBool,
              "Unsupported input type encountered for isin(): ", tensor.scalar_type());
}

/// Removes NaN, which equals no value and would break the order that the search relies on.
Tensor without_nan(const Tensor& values) {
  return values.is_floating_point() && !values.is_meta()
             ? at::masked_select(values, at::eq(values, values))
             : values;
}

}  // namespace

Tensor isin(const Tensor& elements, const Tensor& test_elements, bool /*assume_unique*/,
            bool invert) {
  check_isin_dtype(elements);
  check_isin_dtype(test_elements);

  const Tensor operands[] = {elements, test_elements};
  const ScalarType type = result_type(TensorList(operands, 2));
  const Tensor values = elements.to(type);
  const Tensor flat = without_nan(at::reshape(test_elements.to(type), {-1}));
  const Tensor tested = std::get<0>(at::sort(flat));
  if (tested.numel() == 0)
    return at::full(elements.sizes(), Scalar(invert), kBool, std::nullopt, elements.device());

  // A value is a member if it equals the first sorted element that is not less than it.
  const Tensor places = at::clamp_max(at::searchsorted(tested, values), Scalar(tested.numel() - 1));
  const Tensor candidates = at::take(tested, places);
  return invert ? at::ne(candidates, values) : at::eq(candidates, values);
}

Tensor isin_scalar(const Tensor& elements, const Scalar& test_element, bool, bool invert) {
  check_isin_dtype(elements);
  check_isin_dtype(wrapped_scalar(test_element));
  return invert ? at::ne(elements, test_element) : at::eq(elements, test_element);
}

Tensor isin_of_scalar(const Scalar& element, const Tensor& test_elements, bool assume_unique,
                      bool invert) {
  const Tensor number = wrapped_scalar(element);
  check_isin_dtype(number);

  const Tensor operands[] = {number, test_elements};
  const ScalarType type = result_type(TensorList(operands, 2));
  return at::isin(at::scalar_tensor(element, type, std::nullopt, test_elements.device()),
                  test_elements, assume_unique, invert);
}

std::tuple<Tensor, Tensor> _unique(const Tensor& self, bool sorted, bool return_inverse) {
  const auto [values, inverse, counts] = at::_unique2(self, sorted, return_inverse, false);
  return {values, inverse};
}

}  // namespace at::native
