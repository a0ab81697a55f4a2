{# The autograd kernel of an operator's declared form. #}
{{ f.result }} {{ f.struct }}(DispatchKeySet keys{{ f.parameters|more }}) {
  c10::intrusive_ptr<{{ node.name }}> node;
  if (compute_requires_grad({{ node.edge_names|commas }})) {
{% include "torch_py/csrc/autograd/generated/save.cpp" %}
  }

  {{ "auto" if node.base else "const auto" }} result = [&] {
    AutoDispatchBelowAutograd below;
    return ops::{{ f.struct }}::redispatch(keys & kBelowAutograd{{ f.names|more }});
  }();

{% if node.base and node.has_list_output %}
  for (Tensor& view : result) view = as_view({{ node.base }}, std::move(view), ViewOrigin::MultiOutput);
{% elif node.base %}
  result = as_view({{ node.base }}, std::move(result), ViewOrigin::Ordinary);
{% elif not f.schema.returns|selectattr("is_alias")|list %}
  forget_temporary_base(result);
{% endif %}
{% set results = node.tensors|selectattr("is_result")|list %}
{% if node.outputs == 1 and not results %}
  if (node) set_history(result, node);
{% else %}
  if (node) {
{% for i in range(node.outputs) %}
    set_history({{ node.output(i) }}, node);
{% endfor %}
{% for tensor in results %}
    {{ node.condition(tensor) }}node->{{ tensor.member }} = SavedVariable({{ node.output(tensor.position) }}, true);
{% endfor %}
  }
{% endif %}
  return result;
}
