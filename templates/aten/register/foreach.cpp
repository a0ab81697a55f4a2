{% set f = wrapper.function %}
{% set body = r.body_of(f.operator) %}
{{ fill(f.result ~ " " ~ wrapper.name ~ "(", ["DispatchKeySet", f.parameters], ") {") }}
{{ fill("  check_lists(", [f.operator.base_name|cpp_string, "{" ~ body.lists|join(", ") ~ "}"], ");") }}
{% for line in body.prologue %}
  {{ line }}
{% endfor %}
{{ fill(body.head, body.arguments, body.tail) }}
}
