{% set f = wrapper.function %}
{% set call = wrapper.kernel ~ "(" ~ section.functions[0].names|commas ~ ")" %}
{% include "aten/register/checks.cpp" %}
{% if f.operator.structure == "mutation" %}
{% for argument in f.written %}
  const auto {{ argument.name }}_version = version_of({{ argument.name }});
{% endfor %}
  {{ call }};
{% for argument in f.written %}
  end_write({{ argument.name }}, {{ argument.name }}_version);
{% endfor %}
  return {{ r.returned(f) }};
{% elif f.form == "function" or f.schema == f.operator.schema %}
  return {{ call }};
{% else %}
{% set written = f.written[0].name %}
  store_opaque({{ f.python_name|cpp_string }}, {{ written }}, {{ call }}, {{ "true" if f.form == "out" else "false" }});
  return {{ written }};
{% endif %}
}
