{% set f = body.function %}
{% set out_slot = body.slot("out") %}
{% set grad_slot = body.slot("requires_grad") %}
{% set names = f.names %}
{# An argument may be called wrap. #}
{% set wrap = "python::wrap" if "wrap" in names else "wrap" %}
{% if body.return_type %}
const ReturnType {{ body.return_type }} = { {{- f.operator.base_name|cpp_string }}, { {{- body.return_fields|join(", ") -}} }};
{% endif %}
PyObject* {{ body.name }}(const Arguments& args) {
{% for parameter in body.arguments %}
{% for line in parameter.declarations %}
  {{ line }}
{% endfor %}
{% endfor %}
{% set results = body.return_type ~ ", " if body.return_type else "" %}
{% if out_slot >= 0 %}
  if (args.given({{ out_slot }})) {
{% if body.out.out_names|length == 1 %}
    const auto& out = args.tensor({{ out_slot }});
{% if grad_slot >= 0 %}
    // A factory makes what out has; other wishes are mistakes.
    TORCH_CHECK(!args.given({{ names.index("dtype") }}) || dtype.value_or(out.scalar_type()) == out.scalar_type(),
                "dtype does not match dtype of out parameter (", at::scalar_type_name(out.scalar_type()), ")");
    TORCH_CHECK(device.value_or(out.device()).type == out.device().type, "device type does not match device type of out parameter (",
                out.device(), ")");
{% set wishes = {"dtype": "out.scalar_type()", "device": "out.device()"} %}
{% set made = namespace(names=()) %}
{% for name in names %}
{% set made.names = made.names + (wishes.get(name, name),) %}
{% endfor %}
{{ unlocked("    at::Tensor result = ", body.out, made.names + ("out",), body.tensors + ["out"], ";") }}
    return {{ wrap }}(with_requires_grad(std::move(result), args.boolean({{ grad_slot }}, false)));
{% else %}
{{ unlocked("    return " ~ wrap ~ "(", body.out, names + ("out",), body.tensors, ");") }}
{% endif %}
{% else %}
    const auto out = args.tensor_tuple<{{ body.out.out_names|length }}>({{ out_slot }});
{{ unlocked("    return " ~ wrap ~ "(" ~ results, body.out, names|list + out_elements(body.out), body.tensors, ");") }}
{% endif %}
  }
{% endif %}
{% if f.result == "void" %}
{{ unlocked("  ", f, names, body.tensors, ";") }}
{% if body.returns_list %}
  return Py_NewRef(args.object(0));
{% else %}
  return wrap_none();
{% endif %}
{% elif grad_slot >= 0 %}
{{ unlocked("  at::Tensor result = ", f, names, body.tensors, ";") }}
  return {{ wrap }}(with_requires_grad(std::move(result), args.boolean({{ grad_slot }}, false)));
{% else %}
{{ unlocked("  return " ~ wrap ~ "(" ~ results, f, names, body.tensors, ");") }}
{% endif %}
}
