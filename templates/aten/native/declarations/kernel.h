{# One kernel or shape rule, declared once per instruction set or once. #}
{% if declaration.is_per_isa %}
TORCH_PY_KERNEL({{ declaration.head }}({{ declaration.parameters|commas }}))
{% else %}
{{ declaration.head }}({{ declaration.parameters|commas }});
{% endif %}
