{# The out= call of a factory, whose dtype and device come from out. #}
{% set wishes = {"dtype": "out.scalar_type()", "device": "out.device()"} %}
{% set made = namespace(names=()) %}
{% for name in names %}
{% set made.names = made.names + (wishes.get(name, name),) %}
{% endfor %}
    const auto& out = args.tensor({{ out_slot }});
    // The dtype and the device are those of out; a request for others is a mistake.
    TORCH_CHECK(!args.given({{ names.index("dtype") }}) || dtype.value_or(out.scalar_type()) == out.scalar_type(), "dtype does not match dtype of out parameter (", at::scalar_type_name(out.scalar_type()), ")");
    TORCH_CHECK(device.value_or(out.device()).type == out.device().type, "device type does not match device type of out parameter (", out.device(), ")");

    at::Tensor result = {{ unlocked(body.out, made.names + ("out",), body.measured + ["out"]) }};
    return {{ wrap }}(with_requires_grad(std::move(result), args.boolean({{ grad_slot }}, false)));
