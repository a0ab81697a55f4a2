{% set needed = [] if node.outputs == 1 else g.grads %}
{% if g.kind == "list" %}
  if (should_compute_any(*this, {{ g.edges[0] }}, {{ g.inputs[0] }}_size_)) {
{{ fill("    const std::vector<Tensor> gradients = ", [g.value], ";") }}
    for (size_t i = 0; i < gradients.size(); ++i) {
{% set edge = (g.edges[0] ~ " + " if g.edges[0] != "0" else "") ~ "i" %}
      grad_inputs[{{ edge }}] = real_if_input_is(gradients[i], next_edge({{ edge }}));
    }
  }
{% elif g.kind in ["tuple", "tuple_of_formulas"] %}
{% set conditions = [] %}
{% for edge in g.edges %}
{% set _ = conditions.append("should_compute_output(" ~ edge ~ ")") %}
{% endfor %}
  if ({{ conditions|join(" || ") }}) {
    const auto gradients = {{ g.value }};
{% for edge in g.edges %}
    if (should_compute_output({{ edge }})) grad_inputs[{{ edge }}] = std::get<{{ loop.index0 }}>(gradients);
{% endfor %}
  }
{% else %}
  if (should_compute_output({{ g.edges[0] }}){% for i in needed %} && grads[{{ i }}].defined(){% endfor %}) {
{% if g.kind == "zero" %}
    grad_inputs[{{ g.edges[0] }}] = materialize_grad(Tensor(), {{ g.inputs[0] }}_info_);
{% elif g.kind == "missing" %}
    TORCH_THROW(NotImplementedError, "the derivative of '{{ node.operator.name }}' with respect to '{{ g.inputs[0] }}' is not implemented");
{% elif g.kind == "view" %}
    const Tensor gradient = materialize_grad(Tensor(), {{ g.inputs[0] }}_info_);
{{ fill("    const auto view = ops::" ~ node.functions[0].struct ~ "::call(", node.view_arguments, ");") }}
{% if node.has_list_output %}
    for (size_t i = 0; i < view.size(); ++i) {
      if (grads[i].defined()) view[i].copy_(grads[i]);
    }
{% else %}
    view.copy_(grad);
{% endif %}
    grad_inputs[{{ g.edges[0] }}] = gradient;
{% elif g.reduces %}
    grad_inputs[{{ g.edges[0] }}] = reduce_grad({{ g.value }}, {{ g.inputs[0] }}_info_);
{% else %}
    grad_inputs[{{ g.edges[0] }}] = {{ g.value }};
{% endif %}
  }
{% endif %}
