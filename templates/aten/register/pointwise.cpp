{% set f = wrapper.function %}
{% set op = f.operator %}
{% set out = {"function": "Tensor()", "inplace": "self", "out": "out"}[f.form] %}
{% include "aten/register/checks.cpp" %}
  TensorIterator iter = TensorIterator::pointwise({{ f.python_name|cpp_string }}, Promotion::{{ r.PROMOTIONS[op.promotion] }}, {{ out }}, { {{- r.tensor_addresses(op)|commas -}} }, OutputKind::{{ r.pointwise_form(f) }});
  native::loops::{{ wrapper.loop.kernels.name }}(iter.device(), iter{{ r.plain_names(op)|more }});
{% if f.form == "function" %}
  return iter.finish();
{% else %}
  iter.store();
  return {{ out }};
{% endif %}
}
