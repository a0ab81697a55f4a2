{% set f = wrapper.function %}
{% set op = f.operator %}
{% set names = section.functions[0].names %}
{% set declared = f.schema == op.schema %}
{{ fill(f.result ~ " " ~ wrapper.name ~ "(", [("DispatchKeySet keys" if wrapper.one_device else "DispatchKeySet"), f.parameters], ") {") }}
{% if wrapper.one_device %}
{{ fill("  if (mixes_devices(keys)) check_one_device(", [f.python_name|cpp_string, "{" ~ wrapper.one_device|join(", ") ~ "}"], ");") }}
{% endif %}
{% if section.checks %}
{{ fill("  check_" ~ op.unambiguous_name ~ "(", section.checked_names, ");") }}
{% endif %}
{% if op.structure == "mutation" %}
{% for argument in f.written %}
  {{ argument.name }}.unsafe_impl()->bump_version();
{% endfor %}
{{ fill("  " ~ wrapper.kernel ~ "(", names, ");") }}
  return {{ r.returned(f) }};
{% elif declared %}
{{ fill("  return " ~ wrapper.kernel ~ "(", names, ");") }}
{% elif f.form == "inplace" and r.inplace_kernel(op) %}
{{ fill("  " ~ r.inplace_kernel(op) ~ "(", names, ");") }}
  return self;
{% elif f.form == "inplace" %}
{{ fill("  const Tensor self_before = value_before(", [r.self_and_others(op)], ");") }}
{{ fill("  copy_to_self(" ~ f.name|cpp_string ~ ", self, " ~ wrapper.kernel ~ "(", ("self_before",) + names[1:], "));") }}
  return self;
{% elif f.out_names|length == 1 %}
{{ fill("  copy_to_output(" ~ f.python_name|cpp_string ~ ", out, " ~ wrapper.kernel ~ "(", names, "));") }}
  return out;
{% else %}
{{ fill("  const auto results = " ~ wrapper.kernel ~ "(", names, ");") }}
{% for name in f.out_names %}
  copy_to_output({{ f.python_name|cpp_string }}, {{ name }}, std::get<{{ loop.index0 }}>(results));
{% endfor %}
  return {{ r.returned(f) }};
{% endif %}
}
