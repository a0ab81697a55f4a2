{% set f = wrapper.function %}
{% set op = f.operator %}
{% set out = "Tensor()" if f.form == "function" else "out" %}
{% set keepdim = r.reduction_argument(op, "keepdim", "false") %}
{% set dtype = r.reduction_argument(op, "dtype", "std::nullopt") %}
{% include "aten/register/checks.cpp" %}
  TensorIterator iter = native::make_reduction({{ f.python_name|cpp_string }}, {{ out }}, {{ op.schema.arguments.tensors[0].name }}, {{ r.reduction_dim(op) }}, {{ keepdim }}, native::ReductionDtype::{{ r.REDUCTION_DTYPES[op.promotion] }}, {{ dtype }});
  native::loops::{{ wrapper.loop.kernels.name }}(iter.device(), iter{{ r.loop_names(op)|more }});
{% if f.form == "function" %}
  return iter.finish();
{% else %}
  iter.store();
  return out;
{% endif %}
}
