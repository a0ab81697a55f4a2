{% set f = wrapper.function %}
{% include "aten/register/checks.cpp" %}
{% for argument in f.written %}
  const auto {{ argument.name }}_version = version_of({{ argument.name }});
{% endfor %}
{% if wrapper.loop.direct %}
  {{ wrapper.loop.direct }}({{ f.names|commas }});
{% else %}
{% set written = f.written[0].name %}
{% set device = written ~ ".is_meta() ? " ~ written ~ ".device() : " ~ wrapper.device if "mixes_devices" in f.operator.tags else r.device_of(f.written[0]) %}
  native::loops::{{ wrapper.loop.kernels.name }}({{ device }}{{ f.names|more }});
{% endif %}
{% for argument in f.written %}
  end_write({{ argument.name }}, {{ argument.name }}_version);
{% endfor %}
{% if f.schema.returns %}
  return {{ r.returned(f) }};
{% endif %}
}
