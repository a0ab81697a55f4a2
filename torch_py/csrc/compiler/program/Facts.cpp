// What a program knows about each of its tensors.
#include "torch_py/csrc/compiler/program/Facts.h"

#include "c10/util/Exception.h"

namespace torch::programs {

namespace {

/// Keys of tensors whose calls somebody else handles.
constexpr auto kHandledKeys =
    c10::DispatchKeySet(c10::DispatchKey::Python) | c10::DispatchKey::Transform;

std::string describe(at::ScalarType dtype, at::Device device, at::IntArrayRef sizes,
                     at::IntArrayRef strides) {
  return c10::str(c10::dtype_name(dtype), " of size ", sizes, " and strides ", strides, " on ",
                  device.str());
}

bool has_same_memory_order(const at::Tensor& tensor, const Geometry& geometry) {
  const at::IntArrayRef strides = tensor.strides();
  if (strides == at::IntArrayRef(geometry.strides) || geometry.elements == 0) return true;
  for (size_t i = 0; i < strides.size(); ++i) {
    if (strides[i] != geometry.strides[i] && geometry.sizes[i] != 1) return false;
  }
  return true;
}

}  // namespace

Geometry geometry_of(const SlotFacts& facts, const std::vector<int64_t>& values) {
  Geometry geometry;
  if (facts.is_integer) return geometry;

  geometry.elements = 1;
  int64_t last = 0;  // the place of the last element
  bool fits = true;

  for (size_t i = 0; i < facts.sizes.size(); ++i) {
    const int64_t size = facts.sizes[i].of(values);
    const int64_t stride = facts.strides[i].of(values);
    TORCH_CHECK_VALUE(size >= 0 && stride >= 0, "dimension ", i, " has size ", size, " and stride ",
                      stride, "; neither may be negative");
    geometry.sizes.push_back(size);
    geometry.strides.push_back(stride);

    int64_t step = 0;
    fits = fits && !__builtin_mul_overflow(geometry.elements, size, &geometry.elements);
    fits = fits && !__builtin_mul_overflow(size - 1, stride, &step);
    fits = fits && !__builtin_add_overflow(last, step, &last);
  }

  if (fits && geometry.elements == 0) return geometry;
  fits = fits && !__builtin_mul_overflow(last + 1, static_cast<int64_t>(element_size(facts.dtype)),
                                         &geometry.bytes);
  TORCH_CHECK_VALUE(fits, "a tensor of size ", geometry.sizes, " and strides ", geometry.strides,
                    " is larger than any memory");
  return geometry;
}

bool matches(const at::Tensor& tensor, const SlotFacts& facts, const Geometry& geometry) {
  return tensor.defined() && tensor.scalar_type() == facts.dtype &&
         tensor.device() == facts.device && tensor.sizes() == at::IntArrayRef(geometry.sizes) &&
         tensor.storage() && tensor.layout() == c10::Layout::Strided &&
         !tensor.key_set().has_any(kHandledKeys) && has_same_memory_order(tensor, geometry);
}

std::string describe_mismatch(std::string_view name, const at::Tensor& tensor,
                              const SlotFacts& facts, const Geometry& geometry) {
  const std::string expected =
      ", expected " + describe(facts.dtype, facts.device, geometry.sizes, geometry.strides);
  if (!tensor.defined()) return c10::str(name, " is None", expected);

  const bool is_plain = tensor.storage() && tensor.layout() == c10::Layout::Strided &&
                        !tensor.key_set().has_any(kHandledKeys);
  if (!is_plain) return c10::str(name, " is not a plain tensor with memory of its own", expected);

  return c10::str(name, " is ",
                  describe(tensor.scalar_type(), tensor.device(), tensor.sizes(), tensor.strides()),
                  expected);
}

}  // namespace torch::programs
