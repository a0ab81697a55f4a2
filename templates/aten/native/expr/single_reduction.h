// {{ kernel.source }}
template <class scalar_t>
struct {{ kernel.struct }} {
  using opmath_t = opmath_type<scalar_t>;
{% if kernel.is_complex %}
  using real_t = c10::scalar_value_type_t<opmath_t>;
{% endif %}
  using input_t = scalar_t;
  using acc_t = {{ kernel.single.type }};
  using output_t = {{ kernel.result }};

{% for type, name in kernel.members %}
  {{ type }} {{ name }};
{% endfor %}
{% if kernel.members %}

{% endif %}
  C10_HOST_DEVICE static acc_t identity() { return row_start<{{ kernel.single.operation }}, acc_t>(); }
  C10_HOST_DEVICE acc_t reduce(acc_t total, input_t element) const {
{% if kernel.single.element %}
    const auto {{ kernel.single.element }} = static_cast<opmath_t>(element);
{% endif %}
    return combine(total, static_cast<acc_t>({{ kernel.single.elements }}));
  }
  C10_HOST_DEVICE static acc_t combine(acc_t a, acc_t b) { return {{ kernel.single.operation }}::combine(a, b); }
  C10_HOST_DEVICE output_t project(acc_t {{ kernel.single.total }}) const { return static_cast<output_t>({{ kernel.finish }}); }
};
