{% set f = wrapper.function %}
{% set op = f.operator %}
{% set names = section.functions[0].names %}
{% set outputs = r.shaped_outputs(op) %}
{% set is_inplace = f.form == "inplace" and op.has_inplace %}
{% set suffix = "_buffer" if f.form == "out" else "" %}
{% include "aten/register/checks.cpp" %}
{% if wrapper.one_device or section.checks %}

{% endif %}
{% if op.is_over_rows %}
  const TensorSpec spec0 = native::row_result({{ f.python_name|cpp_string }}, { {{- r.tensor_addresses(op)|commas -}} }, {{ r.reduction_dim(op) }}, native::ReductionDtype::{{ r.row_rule(op) }}, {{ r.reduction_argument(op, "dtype", "std::nullopt") }});
{% elif outputs|length == 1 %}
  const TensorSpec spec0 = native::{{ op.shape }}({{ names|commas }});
{% else %}
  const auto [{{ r.specs(op)|commas }}] = native::{{ op.shape }}({{ names|commas }});
{% endif %}
{% if is_inplace %}
  check_inplace_result({{ f.name|cpp_string }}, self, spec0.sizes, spec0.dtype);
{% endif %}
{% if f.form == "out" and outputs|length > 1 %}
  check_distinct_outputs({{ f.python_name|cpp_string }}, { {{- f.out_names|commas -}} });
{% endif %}
{% for output in outputs %}
{% if f.form == "out" %}
  const Tensor {{ output }}_buffer = output_buffer({{ f.python_name|cpp_string }}, {{ f.out_names[loop.index0] }}, spec{{ loop.index0 }}, { {{- r.input_lists(op)|commas -}} }, OutputDtype::{{ r.output_dtype(op) }});
{% elif f.form == "inplace" and "self_as_result" in op.tags %}
  const Tensor {{ output }} = inplace_buffer(spec{{ loop.index0 }}, {{ r.self_and_others(op) }});
{% else %}
  const Tensor {{ output }} = empty_from_spec(spec{{ loop.index0 }});
{% endif %}
{% endfor %}
{% for argument in op.schema.mutable_arguments %}
  const auto {{ argument.name }}_version = {{ argument.name }}.defined() ? version_of({{ argument.name }}) : 0;
{% endfor %}
{% if f.form == "out" or outputs|length > 1 %}

{% endif %}
{% set arguments = names + r.suffixed(outputs, suffix) %}
{% if wrapper.loop.direct %}
  {{ wrapper.loop.direct }}({{ arguments|commas }});
{% else %}
  native::loops::{{ wrapper.loop.kernels.name }}({{ outputs[0] }}{{ suffix }}.device(){{ arguments|more }});
{% endif %}
{% for argument in op.schema.mutable_arguments %}
  if ({{ argument.name }}.defined()) end_write({{ argument.name }}, {{ argument.name }}_version);
{% endfor %}
{% if f.form == "out" %}
{% for output in outputs %}
  store_output({{ f.out_names[loop.index0] }}, {{ output }}_buffer);
{% endfor %}
  return {{ r.returned(f) }};
{% elif is_inplace %}
  store_inplace(self, out0);
  return self;
{% elif outputs|length == 1 %}
  return out0;
{% else %}
  return { {{- outputs|commas -}} };
{% endif %}
}
