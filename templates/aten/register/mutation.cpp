{% set f = wrapper.function %}
{% set op = f.operator %}
{{ fill(f.result ~ " " ~ wrapper.name ~ "(", [("DispatchKeySet keys" if wrapper.one_device else "DispatchKeySet"), f.parameters], ") {") }}
{% if wrapper.one_device %}
{{ fill("  if (mixes_devices(keys)) check_one_device(", [f.python_name|cpp_string, "{" ~ wrapper.one_device|join(", ") ~ "}"], ");") }}
{% endif %}
{% if section.checks %}
{{ fill("  check_" ~ op.unambiguous_name ~ "(", section.checked_names, ");") }}
{% endif %}
{% for argument in f.written %}
{% if argument.type.is_list %}
  for (const Tensor& tensor : {{ argument.name }}) tensor.unsafe_impl()->bump_version();
{% else %}
  {{ argument.name }}.unsafe_impl()->bump_version();
{% endif %}
{% endfor %}
{% if wrapper.loop.direct %}
{{ fill("  " ~ wrapper.loop.direct ~ "(", f.names, ");") }}
{% else %}
{% set first = f.written[0] %}
{{ fill("  native::" ~ wrapper.loop.stub ~ "(", [(first.name ~ ".empty() ? Device(DeviceType::CPU) : " ~ first.name ~ "[0].device()") if first.type.is_list else first.name ~ ".device()", f.names], ");") }}
{% endif %}
{% if f.schema.returns %}
  return {{ r.returned(f) }};
{% endif %}
}
