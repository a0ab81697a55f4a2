// {{ banner }}
#include "aten/dispatch/Dtypes.h"
#include "aten/native/cuda/RowFormula.cuh"
{% for header in headers %}
#include "{{ header }}"
{% endfor %}
#include "c10/core/Scalar.h"

namespace at::native::cuda {

// Formulas of rows, with the numbers they use as members.
namespace {
{% for kernel in kernels %}

{% if kernel.single %}
{% include "aten/native/expr/single_reduction.h" %}
{% else %}
// {{ kernel.source }}
template <class scalar_t>
struct {{ kernel.struct }} {
  using opmath_t = opmath_type<scalar_t>;
{% if kernel.is_complex %}
  using real_t = c10::scalar_value_type_t<opmath_t>;
{% endif %}

  RowFormulaOperands<{{ kernel.tensors|length }}> operands;
{% for type, name in kernel.members %}
  {{ type }} {{ name }};
{% endfor %}

  template <class Walk, class Threads>
  SIMT_DEVICE void operator()(const RowPlace& place, const Walk& walk, Threads& threads) const {
    const FormulaRow<scalar_t, {{ kernel.tensors|length }}, Walk> row(operands, place, walk);
{% for stage in kernel.stages %}

{% for total in stage.totals %}
    RowTotal<{{ total.operation }}, {{ total.type }}, Walk> {{ total.name }}_total;
{% endfor %}
{% if stage.totals %}
    row.each([&]({{ stage.parameters|commas }}) {
{% for total in stage.totals %}
      {{ total.name }}_total.add(static_cast<{{ total.type }}>({{ total.element }}));
{% endfor %}
    });
{% for total in stage.totals %}
    const {{ total.type }} {{ total.name }} = {{ total.name }}_total.join(threads);
{% endfor %}
{% else %}
    const {{ stage.type }} {{ stage.name }} = {{ stage.value }};
{% endif %}
{% endfor %}

{% if kernel.is_reduction %}
    if (threads.leads()) row.store_value(static_cast<{{ kernel.result }}>({{ kernel.finish }}));
{% else %}
    row.template store<{{ kernel.result }}>([&]({{ kernel.finish_parameters|commas }}) {
      return {{ kernel.finish }};
    });
{% endif %}
  }
};
{% endif %}
{% endfor %}

}  // namespace
{% for kernel in kernels %}

// {{ kernel.schema }}
// {{ kernel.place }}
{% include "aten/native/expr/row_kernel_head.h" %}
{% set members = kernel.members|map(attribute=1)|list %}
{% if kernel.single %}
        reduce(iter, {{ kernel.struct }}<scalar_t>{ {{- members|commas -}} });
{% else %}
        const auto operands = row_formula_operands<{{ kernel.tensors|length }}>(plan);
        const {{ kernel.struct }}<scalar_t> formula{operands{{ members|more }}};
        for_each_formula_row<scalar_t, {{ kernel.result }}, {{ kernel.tensors|length }}>(
            "{{ kernel.name }}", plan, {{ "true" if kernel.is_reduction else "false" }}, formula);
{% endif %}
      });
}
{% endfor %}

}  // namespace at::native::cuda
