{% set f = wrapper.function %}
{% set op = f.operator %}
{% set dtype = r.reduction_argument(op, "dtype", "std::nullopt") %}
{{ fill(f.result ~ " " ~ wrapper.name ~ "(", ["DispatchKeySet", f.parameters], ") {") }}
{% if section.checks %}
{{ fill("  check_" ~ op.unambiguous_name ~ "(", section.checked_names, ");") }}
{% endif %}
{{ fill("  TensorIterator iter = native::make_reduction(", [f.python_name|cpp_string, "Tensor()" if f.form == "function" else "out", op.schema.arguments.tensors[0].name, r.reduction_dim(op), r.reduction_argument(op, "keepdim", "false"), "native::ReductionDtype::" ~ r.REDUCTION_DTYPES[op.promotion], dtype], ");") }}
{{ fill("  native::" ~ wrapper.loop.stub ~ "(", ["iter.device()", "iter", r.loop_names(op)], ");") }}
{% if f.form == "function" %}
  return iter.finish();
{% else %}
  iter.store();
  return out;
{% endif %}
}
