{# One formula: the gradient of one input, or of several from one call. #}
{% set edge = g.edges[0] %}
{% set input = g.inputs[0] %}
{% set needed = [] if node.outputs == 1 else g.grads %}
{% if g.kind == "list" %}
{% set position = "i" if edge == "0" else edge ~ " + i" %}
  if (should_compute_any(*this, {{ edge }}, {{ input }}_size_)) {
    const std::vector<Tensor> gradients = {{ g.value }};
    for (size_t i = 0; i < gradients.size(); ++i) {
      grad_inputs[{{ position }}] = real_if_input_is(gradients[i], next_edge({{ position }}));
    }
  }
{% elif g.kind == "tuple" %}
  if ({% if g.any_of %}({{ g.is_any_defined }}) && ({% endif %}{{ g.conditions|join(" || ") }}{% if g.any_of %}){% endif %}) {
    const auto gradients = {{ g.value }};
{% for one in g.edges %}
    if (should_compute_output({{ one }})) grad_inputs[{{ one }}] = std::get<{{ loop.index0 }}>(gradients);
{% endfor %}
  }
{% else %}
  if (should_compute_output({{ edge }}){% for i in needed %} && grads[{{ i }}].defined(){% endfor %}
{%- if g.any_of %} && ({{ g.is_any_defined }}){% endif %}
{%- if node.joins_gradients %} && any_defined(grads){% endif %}) {
{% if g.kind == "zero" %}
    grad_inputs[{{ edge }}] = materialize_grad(Tensor(), {{ input }}_info_);
{% elif g.kind == "missing" %}
    TORCH_THROW(NotImplementedError, "the derivative of '{{ node.operator.name }}' with respect to '{{ input }}' is not implemented");
{% elif g.kind == "view" %}
    const Tensor gradient = materialize_grad(Tensor(), {{ input }}_info_);
    const auto view = ops::{{ node.functions[0].struct }}::call({{ node.view_arguments|commas }});
{% if node.has_list_output %}
    for (size_t i = 0; i < view.size(); ++i) {
      if (grads[i].defined()) view[i].copy_(grads[i]);
    }
{% else %}
    view.copy_(grad);
{% endif %}
    grad_inputs[{{ edge }}] = gradient;
{% elif g.reduces %}
    grad_inputs[{{ edge }}] = reduce_grad({{ g.value }}, {{ input }}_info_);
{% else %}
    grad_inputs[{{ edge }}] = {{ g.value }};
{% endif %}
  }
{% endif %}
