{% set f = wrapper.function %}
{% set op = f.operator %}
{% set names = section.functions[0].names %}
{% set kernel = "native::loops::" ~ wrapper.kernels.name if wrapper.kernels else wrapper.kernel %}
{% set device = [wrapper.device] if wrapper.kernels else [] %}
{% set call = kernel ~ "(" ~ (device + names|list)|commas ~ ")" %}
{% include "aten/register/checks.cpp" %}
{% if op.structure == "mutation" %}
{% for argument in f.written %}
  const auto {{ argument.name }}_version = version_of({{ argument.name }});
{% endfor %}
  {{ call }};
{% for argument in f.written %}
  end_write({{ argument.name }}, {{ argument.name }}_version);
{% endfor %}
  return {{ r.returned(f) }};
{% elif f.schema == op.schema %}
  return {{ call }};
{% elif f.form == "inplace" and r.inplace_kernel(op) %}
  {{ r.inplace_kernel(op) }}({{ names|commas }});
  return self;
{% elif f.form == "inplace" %}
  const Tensor self_before = value_before({{ r.self_and_others(op) }});
  copy_to_self({{ f.name|cpp_string }}, self, {{ kernel }}({{ (device + ["self_before"] + names[1:]|list)|commas }}));
  return self;
{% elif f.out_names|length == 1 %}
  copy_to_output({{ f.python_name|cpp_string }}, out, {{ call }}, OutputDtype::{{ r.output_dtype(op) }});
  return out;
{% else %}
  const auto results = {{ call }};
  copy_to_outputs({{ f.python_name|cpp_string }}, { {{- f.out_names|commas -}} }, { {{- r.elements_of("results", f.out_names)|commas -}} }, OutputDtype::{{ r.output_dtype(op) }});
  return {{ r.returned(f) }};
{% endif %}
}
