{% set f = wrapper.function %}
{% set op = f.operator %}
{% set out = {"function": "Tensor()", "inplace": "self", "out": "out"}[f.form] %}
{{ fill(f.result ~ " " ~ wrapper.name ~ "(", ["DispatchKeySet", f.parameters], ") {") }}
{% if section.checks %}
{{ fill("  check_" ~ op.unambiguous_name ~ "(", section.checked_names, ");") }}
{% endif %}
{{ fill("  TensorIterator iter = TensorIterator::pointwise(", [f.python_name|cpp_string, "Promotion::" ~ r.PROMOTIONS[op.promotion], out, "{" ~ r.tensor_addresses(op)|join(", ") ~ "}", "OutputKind::" ~ r.FORMS[f.form]], ");") }}
{{ fill("  native::" ~ wrapper.loop.stub ~ "(", ["iter.device()", "iter", r.plain_names(op)], ");") }}
{% if f.form == "function" %}
  return iter.finish();
{% else %}
  iter.store();
  return {{ out }};
{% endif %}
}
