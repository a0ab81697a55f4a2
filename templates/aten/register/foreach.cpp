{% set f = wrapper.function %}
{% set body = r.body_of(f.operator) %}
{{ f.result }} {{ wrapper.name }}(DispatchKeySet{{ f.parameters|more }}) {
  check_lists({{ f.operator.base_name|cpp_string }}, { {{- body.lists|commas -}} });
{% for line in body.prologue %}
  {{ line }}
{% endfor %}
  {{ body.calls }}
}
