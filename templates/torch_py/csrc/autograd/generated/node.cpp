variable_list {{ node.name }}::apply(variable_list&& grads) {
  variable_list grad_inputs({{ node.edge_count }});
{% if node.has_single_gradient %}
  const Tensor& grad = grads[0];
  if (!grad.defined()) return grad_inputs;
{% endif %}
{% if node.tensors or node.saved_arguments or node.materialized %}

{% endif %}
{% for tensor in node.tensors %}
{% if tensor.is_list %}
  const std::vector<Tensor> {{ tensor.name }} = unpack_list({{ tensor.member }}, this);
{% else %}
  const Tensor {{ tensor.name }} = {{ tensor.member }}.unpack(this);
{% endif %}
{% endfor %}
{% for saved in node.saved_arguments %}
  const auto& {{ saved.name }} = {{ saved.member }};
{% endfor %}
{% for i in node.materialized %}
  if (!grads[{{ i }}].defined()) grads[{{ i }}] = input_metadata({{ i }}).zeros();
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

std::vector<const char*> {{ node.name }}::saved_names() const {
  return { {{- node.saved_names|map("cpp_string")|commas -}} };
}

SavedValue {{ node.name }}::saved_value(std::string_view name) const {
{% for tensor in node.tensors %}
{% if tensor.is_list %}
  if (name == {{ tensor.name|cpp_string }}) return unpack_list({{ tensor.member }}, this);
{% else %}
  if (name == {{ tensor.name|cpp_string }}) return {{ tensor.member }}.unpack(this);
{% endif %}
{% endfor %}
{% for saved in node.saved %}
  if (name == {{ saved.name|cpp_string }}) return {{ saved.member }};
{% endfor %}
  return {};
}
{% endif %}
