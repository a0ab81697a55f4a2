{# The head of a row kernel: its plan, the dispatch over dtypes, and the numbers that the formula uses. #}
void {{ kernel.kernel }}({{ kernel.parameters|commas }}) {
{% if kernel.single %}
  const ScalarType dtype_of_elements = iter.common_dtype();
{% elif kernel.is_reduction %}
  const RowPlan plan(iter);
  const ScalarType dtype_of_elements = iter.common_dtype();
{% else %}
  const RowOperands rows(out0, { {{- kernel.addresses|commas -}} }, {{ kernel.dim }}, ReductionDtype::{{ kernel.rule }}, {{ kernel.dtype }});
  const RowPlan& plan = rows.plan();
  const ScalarType dtype_of_elements = rows.common_dtype();
{% endif %}
  dispatch<{{ kernel.dtypes|commas }}>(
      dtype_of_elements, "{{ kernel.name }}", [&]<typename scalar_t>() {
        using opmath_t [[maybe_unused]] = opmath_type<scalar_t>;
{% if kernel.is_complex %}
        using real_t [[maybe_unused]] = c10::scalar_value_type_t<opmath_t>;
{% endif %}
{% for scalar in kernel.scalars %}
        {{ scalar.conversion }}
{% endfor %}
{% if kernel.uses_count %}
        const auto count_value = static_cast<{{ kernel.real_type }}>({{ "elements_of_row(iter)" if kernel.single else "plan.row.count" }});
{% endif %}
