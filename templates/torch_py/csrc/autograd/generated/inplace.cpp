{# The autograd kernel of a form that overwrites its first argument. #}
{% set self = f.written[0].name %}
{{ f.result }} {{ f.struct }}(DispatchKeySet keys{{ f.parameters|more }}) {
  const bool requires_grad = compute_requires_grad({{ node.edge_names|commas }});
  check_inplace({{ self }}, requires_grad, {{ f.python_name|cpp_string }});

  c10::intrusive_ptr<{{ node.name }}> node;
  if (requires_grad) {
{% include "torch_py/csrc/autograd/generated/save.cpp" %}
  }

  {
    AutoDispatchBelowAutograd below;
    ops::{{ f.struct }}::redispatch(keys & kBelowAutograd{{ f.names|more }});
  }

  if (node) {
{% if "inplace_view" in f.operator.tags %}
    // Only the view of the memory changed, not the memory, so a base keeps its history.
    set_history({{ self }}, node);
{% else %}
    rebase_history({{ self }}, node);
{% endif %}
{% for tensor in node.tensors if tensor.is_result %}
    {{ node.condition(tensor) }}node->{{ tensor.member }} = SavedVariable({{ self }}, true);
{% endfor %}
  }
  return {{ self }};
}
