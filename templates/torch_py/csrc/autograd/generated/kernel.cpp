{% if f.form == "out" %}
{% include "torch_py/csrc/autograd/generated/out.cpp" %}
{% else %}
{{ fill(f.result ~ " " ~ f.struct ~ "(", ["DispatchKeySet keys", f.parameters], ") {") }}
{% if f.form == "inplace" %}
{{ fill("  const bool requires_grad = compute_requires_grad(", node.edge_names, ");") }}
  check_inplace({{ f.written[0].name }}, requires_grad, "{{ f.python_name }}");
{% endif %}
  c10::intrusive_ptr<{{ node.name }}> node;
{% if f.form == "inplace" %}
  if (requires_grad) {
{% else %}
{{ fill("  if (compute_requires_grad(", node.edge_names, ")) {") }}
{% endif %}
    node = c10::make_intrusive<{{ node.name }}>();
{{ fill("    node->set_next_edges(collect_next_edges(", node.edge_names, "));") }}
{% for saved in node.saved %}
    node->{{ saved.member }} = {{ saved.value }};
{% endfor %}
{% for name in node.infos %}
    node->{{ name }}_info_ = InputInfo({{ name }});
{% endfor %}
{% for name in node.lists %}
    node->{{ name }}_size_ = {{ name }}.size();
{% endfor %}
{% for tensor in node.tensors if not tensor.is_result %}
{% set guards = node.guards(tensor) %}
{% set value = tensor.name ~ ".clone()" if f.form == "inplace" and tensor.name == f.written[0].name else tensor.name %}
{% if tensor.is_list %}
    node->{{ tensor.member }} = save_list({{ value }});
{% else %}
    {{ "if (" ~ guards|join(" || ") ~ ") " if guards else "" }}node->{{ tensor.member }} = SavedVariable({{ value }}, false);
{% endif %}
{% endfor %}
  }
{% if f.form == "inplace" %}
  {
    AutoDispatchBelowAutograd below;
{{ fill("    ops::" ~ f.struct ~ "::redispatch(", ["keys & kBelowAutograd", f.names], ");") }}
  }
  if (node) {
{% if "inplace_view" in f.operator.tags %}
    // The memory did not change, only how this tensor looks at it: no part of a base's history.
    set_history({{ f.written[0].name }}, node);
{% else %}
    rebase_history({{ f.written[0].name }}, node);
{% endif %}
{% for tensor in node.tensors if tensor.is_result %}
{% set guards = node.guards(tensor) %}
    {{ "if (" ~ guards|join(" || ") ~ ") " if guards else "" }}node->{{ tensor.member }} = SavedVariable({{ f.written[0].name }}, true);
{% endfor %}
  }
  return {{ f.written[0].name }};
}
{% else %}
  {{ "const auto" if not node.base else "auto" }} result = [&] {
    AutoDispatchBelowAutograd below;
{{ fill("    return ops::" ~ f.struct ~ "::redispatch(", ["keys & kBelowAutograd", f.names], ");") }}
  }();
{% if node.base and node.has_list_output %}
  for (Tensor& view : result) view = as_view({{ node.base }}, std::move(view), ViewOrigin::MultiOutput);
{% elif node.base %}
  result = as_view({{ node.base }}, std::move(result), ViewOrigin::Ordinary);
{% endif %}
{% if not node.base and not f.schema.returns|selectattr("is_alias")|list %}
  forget_temporary_base(result);
{% endif %}
{% set saves_results = node.tensors|selectattr("is_result")|list %}
{% if node.outputs == 1 and not saves_results %}
  if (node) set_history(result, node);
{% else %}
  if (node) {
{% for i in range(node.outputs) %}
    set_history({{ "result" if node.outputs == 1 else "std::get<" ~ i ~ ">(result)" }}, node);
{% endfor %}
{% for tensor in saves_results %}
{% set guards = node.guards(tensor) %}
    {{ "if (" ~ guards|join(" || ") ~ ") " if guards else "" }}node->{{ tensor.member }} = SavedVariable({{ "result" if node.outputs == 1 else "std::get<" ~ tensor.position ~ ">(result)" }}, true);
{% endfor %}
  }
{% endif %}
  return result;
}
{% endif %}
{% endif %}
