// Checks, buffers and copies for the results of generated wrappers.
#include "aten/dispatch/Outputs.h"

#include "aten/iteration/MemoryOverlap.h"
#include "aten/iteration/TensorIterator.h"
#include "aten/ops/resize.h"
#include "c10/core/OpaqueTensorImpl.h"
#include "c10/dispatch/LocalState.h"

namespace at {

namespace {

void check_output(const char* op_name, const Tensor& out, Device device, ScalarType dtype,
                  OutputDtype allowed) {
  TORCH_CHECK(out.device() == device, op_name, ": Expected out tensor to have device ", device,
              ", but got ", out.device(), " instead");
  TORCH_CHECK(can_cast(dtype, out.scalar_type()), "result type ", dtype,
              " can't be cast to the desired output type ", out.scalar_type(), " in ", op_name);
  TORCH_CHECK(allowed == OutputDtype::Castable || out.scalar_type() == dtype, op_name,
              ": Expected out tensor to have dtype ", cpp_type_name(dtype), ", but got ",
              cpp_type_name(out.scalar_type()), " instead");
  check_changeable(out);
  check_no_internal_overlap(op_name, out);
}

bool has_layout(const Tensor& out, const TensorSpec& spec) {
  return spec.strides.empty() ? out.is_contiguous() : out.strides() == IntArrayRef(spec.strides);
}

/// Whether writing to `out` would change an input. An input that overlaps it partly is an error.
bool reaches_inputs(const char* op_name, const Tensor& out, IntArrayRef sizes,
                    std::initializer_list<TensorList> inputs) {
  bool reaches = false;
  for (const TensorList list : inputs) {
    for (const Tensor& input : list) {
      if (!input.defined()) continue;
      check_no_partial_overlap(op_name, out, input);
      reaches = reaches || write_reaches(out, sizes, input);
    }
  }
  return reaches;
}

/// A tensor without memory of its own, such as a fake one, is resized by a call that its class
/// sees.
void resize(const Tensor& out, IntArrayRef sizes) {
  if (out.storage()) return resize_output(out, sizes);
  if (out.sizes() != sizes) ops::resize_::call(out, sizes, std::nullopt);
}

}  // namespace

void check_one_device(const char* op_name, std::initializer_list<NamedTensors> arguments) {
  const Tensor* first = nullptr;
  for (const NamedTensors& argument : arguments) {
    for (const Tensor& tensor : argument.tensors) {
      if (!tensor.defined()) continue;
      // A number on the CPU may come first where there are no elements to compute.
      if (first == nullptr || (tensor.is_meta() && first->is_cpu() && first->dim() == 0)) {
        first = &tensor;
      }
      const bool counts_as_number =
          tensor.is_cpu() && (tensor.dim() == 0 || argument.may_be_on_cpu);
      if (tensor.device() == first->device() || counts_as_number) continue;

      TORCH_CHECK(false, "Expected all tensors to be on the same device, but got ", argument.name,
                  " is on ", tensor.device(), ", different from other tensors on ", first->device(),
                  " (when checking argument in method ", op_name, ")");
    }
  }
}

c10::SmallVector<uint32_t, 8> version_of(TensorList written) {
  c10::SmallVector<uint32_t, 8> versions;
  for (const Tensor& tensor : written) versions.push_back(version_of(tensor));
  return versions;
}

void end_write(TensorList written, const c10::SmallVector<uint32_t, 8>& versions) {
  for (size_t i = 0; i < written.size(); ++i) end_write(written[i], versions[i]);
}

void check_distinct_outputs(const char* op_name, std::initializer_list<Tensor> outs) {
  for (const Tensor* a = outs.begin(); a != outs.end(); ++a) {
    for (const Tensor* b = outs.begin(); b != a; ++b) {
      const Overlap overlap = memory_overlap(*a, *b);
      TORCH_CHECK(
          overlap != Overlap::Full && overlap != Overlap::Partial, op_name,
          ": unsupported operation: several of the out tensors refer to a single memory location");
    }
  }
}

Tensor output_buffer(const char* op_name, const Tensor& out, const TensorSpec& spec,
                     std::initializer_list<TensorList> inputs, OutputDtype dtype) {
  check_output(op_name, out, spec.device, spec.dtype, dtype);
  // Inputs are read before an out that shares their memory is resized.
  if (reaches_inputs(op_name, out, spec.sizes, inputs) || out.scalar_type() != spec.dtype)
    return empty_from_spec(spec);
  if (out.sizes() != IntArrayRef(spec.sizes)) {
    resize_output(out, spec.sizes);
    const DimVector& strides = spec.strides;
    if (!strides.empty()) out.unsafe_impl()->set_sizes_and_strides(spec.sizes, strides);
  }
  return has_layout(out, spec) ? out : empty_from_spec(spec);
}

void store_output(const Tensor& out, const Tensor& buffer) {
  if (out.is_same(buffer)) {
    out.unsafe_impl()->bump_version();
    return;
  }
  resize(out, buffer.sizes());
  out.copy_(buffer);
}

void copy_to_output(const char* op_name, const Tensor& out, const Tensor& result,
                    OutputDtype dtype) {
  check_output(op_name, out, result.device(), result.scalar_type(), dtype);

  // The result of a composite may be an argument, or a view of one, that shares memory with `out`.
  const Tensor source = write_reaches(out, result.sizes(), result) ? result.clone() : result;
  store_output(out, source);
}

void copy_to_outputs(const char* op_name, std::initializer_list<Tensor> outs,
                     std::initializer_list<Tensor> results, OutputDtype dtype) {
  check_distinct_outputs(op_name, outs);

  // All are checked, and what shares memory with an output is copied, before the first is written.
  SmallVector<Tensor, 4> sources(results.begin(), results.end());
  for (size_t i = 0; i < outs.size(); ++i) {
    const Tensor& out = outs.begin()[i];
    const Tensor& result = results.begin()[i];
    check_output(op_name, out, result.device(), result.scalar_type(), dtype);

    for (Tensor& source : sources)
      if (write_reaches(out, result.sizes(), source)) source = source.clone();
  }

  for (size_t i = 0; i < outs.size(); ++i) store_output(outs.begin()[i], sources[i]);
}

void check_inplace_result(const char* op_name, const Tensor& self, IntArrayRef sizes,
                          ScalarType dtype) {
  TORCH_CHECK(self.sizes() == sizes, "output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", sizes, " in ", op_name);
  TORCH_CHECK(can_cast(dtype, self.scalar_type()), "result type ", dtype,
              " can't be cast to the desired output type ", self.scalar_type(), " in ", op_name);
}

Tensor inplace_buffer(const TensorSpec& spec, const Tensor& self,
                      std::initializer_list<TensorList> others) {
  check_changeable(self);
  bool fits =
      self.scalar_type() == spec.dtype && has_layout(self, spec) && !has_internal_overlap(self);
  for (const TensorList list : others) {
    for (const Tensor& other : list)
      fits = fits && (!other.defined() || memory_overlap(self, other) == Overlap::No);
  }
  return fits ? self : empty_from_spec(spec);
}

void store_inplace(const Tensor& self, const Tensor& buffer) {
  if (self.is_same(buffer)) {
    self.unsafe_impl()->bump_version();
  } else {
    self.copy_(buffer);
  }
}

Tensor value_before(const Tensor& self, std::initializer_list<TensorList> others) {
  if (!GradMode::is_enabled()) return self;
  bool needed = self.requires_grad();
  for (const TensorList list : others) {
    for (const Tensor& other : list) needed = needed || (other.defined() && other.requires_grad());
  }
  return needed ? self.clone() : self;
}

void store_opaque(const char* op_name, const Tensor& written, const Tensor& result, bool is_out) {
  c10::OpaqueTensorImpl& target = c10::as_opaque(*written.unsafe_impl());
  const c10::OpaqueTensorImpl& source = c10::as_opaque(*result.unsafe_impl());

  if (is_out && written.sizes() != result.sizes()) {
    target.set_content(source.content());
  } else {
    check_inplace_result(op_name, written, result.sizes(), result.scalar_type());
    Tensor(target.content()).copy_(Tensor(source.content()));
  }
  target.bump_version();
}

void copy_to_self(const char* op_name, const Tensor& self, const Tensor& result) {
  check_inplace_result(op_name, self, result.sizes(), result.scalar_type());
  self.copy_(result);
}

}  // namespace at
