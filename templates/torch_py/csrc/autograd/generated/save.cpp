{# Creates the node, connects it to the graph and saves what its formulas need of the arguments. #}
    node = c10::make_intrusive<{{ node.name }}>();
    node->set_next_edges(collect_next_edges({{ node.edge_names|commas }}));
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
{% set is_overwritten = f.form == "inplace" and tensor.name == f.written[0].name %}
{% set value = tensor.name ~ ".clone()" if is_overwritten else tensor.name %}
{% if tensor.is_list %}
    node->{{ tensor.member }} = save_list({{ value }});
{% else %}
    {{ node.condition(tensor) }}node->{{ tensor.member }} = SavedVariable({{ value }}, false);
{% endif %}
{% endfor %}
