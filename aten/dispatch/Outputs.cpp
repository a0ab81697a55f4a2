#include "aten/dispatch/Outputs.h"

#include "aten/iteration/MemoryOverlap.h"
#include "aten/iteration/TensorIterator.h"
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

/// "long int", as messages about out= name dtypes.
const char* cpp_type_name(ScalarType type) {
  switch (type) {
    case kByte: return "unsigned char";
    case kChar: return "signed char";
    case kShort: return "short int";
    case kInt: return "int";
    case kLong: return "long int";
    case kHalf: return "Half";
    case kFloat: return "float";
    case kDouble: return "double";
    case kComplexFloat: return "complex<float>";
    case kComplexDouble: return "complex<double>";
    case kBool: return "bool";
    case kBFloat16: return "BFloat16";
    case ScalarType::Undefined: break;
  }
  return "undefined";
}

bool shares_memory(const char* op_name, const Tensor& out, std::initializer_list<TensorList> inputs) {
  bool shares = false;
  for (const TensorList list : inputs) {
    for (const Tensor& input : list) {
      if (!input.defined() || !out.storage() || input.storage().get() != out.storage().get()) continue;
      check_no_partial_overlap(op_name, out, input);
      shares = true;
    }
  }
  return shares;
}

}  // namespace

void check_distinct_outputs(const char* op_name, std::initializer_list<Tensor> outs) {
  for (const Tensor* a = outs.begin(); a != outs.end(); ++a) {
    for (const Tensor* b = outs.begin(); b != a; ++b) {
      const Overlap overlap = memory_overlap(*a, *b);
      TORCH_CHECK(overlap != Overlap::Full && overlap != Overlap::Partial, op_name,
                  ": unsupported operation: several of the out tensors refer to a single memory location");
    }
  }
}

Tensor output_buffer(const char* op_name, const Tensor& out, const TensorSpec& spec, std::initializer_list<TensorList> inputs,
                     OutputDtype dtype) {
  check_output(op_name, out, spec.device, spec.dtype);
  TORCH_CHECK(dtype == OutputDtype::Castable || out.scalar_type() == spec.dtype, op_name, ": Expected out tensor to have dtype ",
              cpp_type_name(spec.dtype), ", but got ", cpp_type_name(out.scalar_type()), " instead");
  // Inputs are read before an out that shares their memory is resized.
  if (shares_memory(op_name, out, inputs) || out.scalar_type() != spec.dtype) return empty_from_spec(spec);
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
