#include "aten/dispatch/Outputs.h"

#include "c10/dispatch/LocalState.h"

namespace at {

namespace {

void check_output(const char* op_name, const Tensor& out, Device device, ScalarType dtype) {
  TORCH_CHECK(out.device() == device, op_name, ": Expected out tensor to have device ", device, ", but got ", out.device(), " instead");
  TORCH_CHECK(can_cast(dtype, out.scalar_type()), "result type ", dtype, " can't be cast to the desired output type ", out.scalar_type(),
              " in ", op_name);
}

bool has_layout(const Tensor& out, const TensorSpec& spec) {
  return spec.strides.empty() ? out.is_contiguous() : out.strides() == IntArrayRef(spec.strides);
}

bool shares_memory(const Tensor& out, std::initializer_list<TensorList> inputs) {
  for (const TensorList list : inputs) {
    for (const Tensor& input : list) {
      if (input.defined() && out.storage() && input.storage().get() == out.storage().get()) return true;
    }
  }
  return false;
}

}  // namespace

Tensor output_buffer(const char* op_name, const Tensor& out, const TensorSpec& spec, std::initializer_list<TensorList> inputs) {
  check_output(op_name, out, spec.device, spec.dtype);
  // Inputs are read before an out that shares their memory is resized.
  if (shares_memory(out, inputs) || out.scalar_type() != spec.dtype) return empty_from_spec(spec);
  resize_output(out, spec.sizes);
  return has_layout(out, spec) ? out : empty_from_spec(spec);
}

void store_output(const Tensor& out, const Tensor& buffer) {
  if (out.is_same(buffer)) {
    out.unsafe_impl()->bump_version();
    return;
  }
  resize_output(out, buffer.sizes());
  out.copy_(buffer);
}

void copy_to_output(const char* op_name, const Tensor& out, const Tensor& result) {
  check_output(op_name, out, result.device(), result.scalar_type());
  resize_output(out, result.sizes());
  out.copy_(result);
}

void check_inplace_result(const char* op_name, const Tensor& self, IntArrayRef sizes, ScalarType dtype) {
  TORCH_CHECK(self.sizes() == sizes, "output with shape ", self.sizes(), " doesn't match the broadcast shape ", sizes, " in ", op_name);
  TORCH_CHECK(can_cast(dtype, self.scalar_type()), "result type ", dtype, " can't be cast to the desired output type ", self.scalar_type(),
              " in ", op_name);
}

Tensor value_before(const Tensor& self) { return GradMode::is_enabled() && self.requires_grad() ? self.clone() : self; }

void copy_to_self(const char* op_name, const Tensor& self, const Tensor& result) {
  check_inplace_result(op_name, self, result.sizes(), result.scalar_type());
  self.copy_(result);
}

}  // namespace at
