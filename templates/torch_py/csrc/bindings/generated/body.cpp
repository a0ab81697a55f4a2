{# From bound arguments to a Python result. #}
{% set f = body.function %}
{% set names = f.names %}
{% set out_slot = body.slot("out") %}
{% set grad_slot = body.slot("requires_grad") %}
{# An argument may be called wrap. #}
{% set wrap = "python::wrap" if "wrap" in names else "wrap" %}
{% set results = body.return_type ~ ", " if body.return_type else "" %}
{% if body.return_type %}
const ReturnType {{ body.return_type }} = { {{- f.operator.base_name|cpp_string }}, { {{- body.return_fields|commas -}} }};
{% endif %}
PyObject* {{ body.name }}(const Arguments& args) {
{% if body.notice %}
  {{ body.notice.name }}.give();
{% endif %}
{% for parameter in body.arguments %}
{% for line in parameter.declarations %}
  {{ line }}
{% endfor %}
{% endfor %}
{% if body.number_parameters %}
{% set numbers = body.number_parameters|map(attribute="cpp_name")|list %}
  if ({{ numbers|join("_number.defined() && ") }}_number.defined()) throw_only_numbers({{ f.python_name|cpp_string }}, {{ body.number_parameters|map(attribute="name")|join(", ")|cpp_string }});
{% endif %}
{% if out_slot >= 0 %}
{% if body.arguments %}

{% endif %}
  if (args.given({{ out_slot }})) {
{% if grad_slot >= 0 %}
{% include "torch_py/csrc/bindings/generated/factory_out.cpp" %}
{% elif body.out.out_names|length == 1 %}
    const auto& out = args.tensor({{ out_slot }});
    return {{ wrap }}({{ unlocked(body.out, names + ("out",), body.measured) }});
{% else %}
    const auto out = args.tensor_tuple<{{ body.out.out_names|length }}>({{ out_slot }});
    return {{ wrap }}({{ results }}{{ unlocked(body.out, names + out_elements(body.out), body.measured) }});
{% endif %}
  }

{% endif %}
{% if f.result == "void" %}
  {{ unlocked(f, names, body.measured) }};
{% if body.returns_list %}
  return Py_NewRef(args.object(0));
{% else %}
  return wrap_none();
{% endif %}
{% elif grad_slot >= 0 %}
  at::Tensor result = {{ unlocked(f, names, body.measured) }};
{% if "pin_memory" in names %}
  if (pin_memory.value_or(false)) result = at::pinned(result);
{% endif %}
  return {{ wrap }}(with_requires_grad(std::move(result), args.boolean({{ grad_slot }}, false)));
{% else %}
  return {{ wrap }}({{ results }}{{ unlocked(f, names, body.measured) }});
{% endif %}
}
