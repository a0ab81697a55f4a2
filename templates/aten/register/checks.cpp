{# The head of a wrapper, and the checks that every form of the operator begins with. #}
{{ f.result }} {{ wrapper.name }}(DispatchKeySet{{ " keys" if wrapper.one_device or wrapper.kernels or (wrapper.style == "mutation" and "mixes_devices" in f.operator.tags) else "" }}{{ f.parameters|more }}) {
{% if wrapper.one_device %}
  if (mixes_devices(keys)) check_one_device({{ f.python_name|cpp_string }}, { {{- wrapper.one_device|commas -}} });
{% endif %}
{% if section.checks %}
  check_{{ f.operator.unambiguous_name }}({{ section.checked_names|commas }});
{% endif %}
{% for check in section.checks_of_forms if check.form == f.form %}
  {{ check.macro }}({{ check.condition }}{{ check.message|more }});
{% endfor %}
{% if "no_overlap" in f.operator.tags and f.form != "function" %}
{% for name in f.out_names or ("self",) %}
  check_no_overlap({{ f.python_name|cpp_string }}, {{ name }}, {{ r.separate_from(f) }});
{% endfor %}
{% endif %}
