{% set f = body.function %}
{% set out_slot = body.slot("out") %}
{% set grad_slot = body.slot("requires_grad") %}
{% set names = f.names %}
{% if body.return_type %}
const ReturnType {{ body.return_type }} = { {{- f.python_name|cpp_string }}, { {{- body.return_fields|join(", ") -}} }};
{% endif %}
PyObject* {{ body.name }}(const Arguments& args) {
{% for parameter in body.arguments %}
{% for line in parameter.declarations %}
  {{ line }}
{% endfor %}
{% endfor %}
{% if out_slot >= 0 %}
  if (args.given({{ out_slot }})) {
{% if body.out.out_names|length == 1 %}
    const auto& out = args.tensor({{ out_slot }});
{{ fill("    return wrap(unlocked([&] { return at::ops::" ~ body.out.struct ~ "::call(", [names, "out"], "); }" ~ tail(body.tensors) ~ "));") }}
{% else %}
    const auto out = args.tensor_tuple<{{ body.out.out_names|length }}>({{ out_slot }});
{{ fill("    return wrap(" ~ (body.return_type ~ ", " if body.return_type else "") ~ "unlocked([&] { return at::ops::" ~ body.out.struct ~ "::call(", [names, out_elements(body.out)], "); }" ~ tail(body.tensors) ~ "));") }}
{% endif %}
  }
{% endif %}
{% set call = "unlocked([&] { return at::ops::" ~ f.struct ~ "::call(" %}
{% if f.result == "void" %}
{{ fill("  unlocked([&] { at::ops::" ~ f.struct ~ "::call(", names, "); }" ~ tail(body.tensors) ~ ");") }}
  return wrap_none();
{% elif grad_slot >= 0 %}
{{ fill("  at::Tensor result = " ~ call, names, "); }" ~ tail(body.tensors) ~ ");") }}
  return wrap(with_requires_grad(std::move(result), args.boolean({{ grad_slot }}, false)));
{% elif body.return_type %}
{{ fill("  return wrap(" ~ body.return_type ~ ", " ~ call, names, "); }" ~ tail(body.tensors) ~ "));") }}
{% else %}
{{ fill("  return wrap(" ~ call, names, "); }" ~ tail(body.tensors) ~ "));") }}
{% endif %}
}
