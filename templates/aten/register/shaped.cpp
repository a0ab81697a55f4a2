{% set f = wrapper.function %}
{% set op = f.operator %}
{% set names = section.functions[0].names %}
{% set outputs = r.shaped_outputs(op) %}
{% set kernel = wrapper.loop.direct or "native::" ~ wrapper.loop.stub %}
{{ fill(f.result ~ " " ~ wrapper.name ~ "(", [("DispatchKeySet keys" if wrapper.one_device else "DispatchKeySet"), f.parameters], ") {") }}
{% if wrapper.one_device %}
{{ fill("  if (mixes_devices(keys)) check_one_device(", [f.python_name|cpp_string, "{" ~ wrapper.one_device|join(", ") ~ "}"], ");") }}
{% endif %}
{% if section.checks %}
{{ fill("  check_" ~ op.unambiguous_name ~ "(", section.checked_names, ");") }}
{% endif %}
{% if outputs|length == 1 %}
{{ fill("  const TensorSpec spec0 = native::" ~ op.shape ~ "(", names, ");") }}
{% else %}
{{ fill("  const auto [" ~ r.specs(op)|join(", ") ~ "] = native::" ~ op.shape ~ "(", names, ");") }}
{% endif %}
{% if f.form == "inplace" and op.has_inplace %}
  check_inplace_result({{ f.name|cpp_string }}, self, spec0.sizes, spec0.dtype);
{% endif %}
{% if f.form == "out" and outputs|length > 1 %}
  check_distinct_outputs({{ f.python_name|cpp_string }}, { {{- f.out_names|join(", ") -}} });
{% endif %}
{% for output in outputs %}
{% if f.form == "out" %}
{{ fill("  const Tensor " ~ output ~ "_buffer = output_buffer(", [f.python_name|cpp_string, f.out_names[loop.index0], "spec" ~ loop.index0, "{" ~ r.input_lists(op)|join(", ") ~ "}", "OutputDtype::" ~ r.output_dtype(op)], ");") }}
{% elif f.form == "inplace" and "self_as_result" in op.tags %}
{{ fill("  const Tensor " ~ output ~ " = inplace_buffer(", ["spec" ~ loop.index0, r.self_and_others(op)], ");") }}
{% else %}
  const Tensor {{ output }} = empty_from_spec(spec{{ loop.index0 }});
{% endif %}
{% endfor %}
{% for argument in op.schema.mutable_arguments %}
  if ({{ argument.name }}.defined()) {{ argument.name }}.unsafe_impl()->bump_version();
{% endfor %}
{% set suffix = "_buffer" if f.form == "out" else "" %}
{{ fill("  " ~ kernel ~ "(", [[] if wrapper.loop.direct else outputs[0] ~ suffix ~ ".device()", names, r.suffixed(outputs, suffix)], ");") }}
{% if f.form == "out" %}
{% for output in outputs %}
  store_output({{ f.out_names[loop.index0] }}, {{ output }}_buffer);
{% endfor %}
  return {{ r.returned(f) }};
{% elif f.form == "inplace" and op.has_inplace %}
  store_inplace(self, out0);
  return self;
{% elif outputs|length == 1 %}
  return out0;
{% else %}
  return { {{- outputs|join(", ") -}} };
{% endif %}
}
