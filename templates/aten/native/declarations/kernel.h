{# One kernel or shape rule: once per instruction set, in the namespace of CUDA, or once. #}
{% if declaration.scope == "isa" %}
TORCH_PY_KERNEL({{ declaration.head }}({{ declaration.parameters|commas }}))
{% else %}
{{ declaration.head }}({{ declaration.parameters|commas }});
{% endif %}
