variable_list {{ node.name }}::apply(variable_list&& grads) {
  variable_list grad_inputs({{ node.edge_count }});
{% if node.outputs == 1 and not node.has_list_output %}
  const Tensor& grad = grads[0];
  if (!grad.defined()) return grad_inputs;
{% endif %}
{% for tensor in node.tensors %}
{% if tensor.is_list %}
  const std::vector<Tensor> {{ tensor.name }} = unpack_list({{ tensor.member }}, this);
{% else %}
  const Tensor {{ tensor.name }} = {{ tensor.member }}.unpack(this);
{% endif %}
{% endfor %}
{% for saved in node.saved if saved.is_argument %}
  const auto& {{ saved.name }} = {{ saved.member }};
{% endfor %}
{% for g in node.gradients %}
{% for i in g.materialized %}
  if (!grads[{{ i }}].defined()) grads[{{ i }}] = input_metadata({{ i }}).zeros();
{% endfor %}
{% endfor %}
{% for g in node.gradients %}
{% include "torch_py/csrc/autograd/generated/gradient.cpp" %}
{% endfor %}
  return grad_inputs;
}
{% if node.tensors %}

void {{ node.name }}::release_variables() {
{% for tensor in node.tensors %}
{% if tensor.is_list %}
  reset_list({{ tensor.member }});
{% else %}
  {{ tensor.member }}.reset();
{% endif %}
{% endfor %}
}
{% endif %}
{% if node.saved or node.tensors %}

{% set quoted = [] %}
{% for saved in (node.tensors|list) + (node.saved|list) %}
{% set _ = quoted.append(saved.name|cpp_string) %}
{% endfor %}
std::vector<const char*> {{ node.name }}::saved_names() const { return {{ "{" ~ quoted|join(", ") ~ "}" }}; }

SavedValue {{ node.name }}::saved_value(std::string_view name) const {
{% for tensor in node.tensors %}
  if (name == {{ tensor.name|cpp_string }}) return {{ "unpack_list(" ~ tensor.member ~ ", this)" if tensor.is_list else tensor.member ~ ".unpack(this)" }};
{% endfor %}
{% for saved in node.saved %}
  if (name == {{ saved.name|cpp_string }}) return {{ saved.member }};
{% endfor %}
  return {};
}
{% endif %}
