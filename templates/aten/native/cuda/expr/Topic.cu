// {{ banner }}
#include "aten/dispatch/Dtypes.h"
#include "aten/iteration/LaunchPlan.h"
#include "aten/native/cuda/Elementwise.cuh"
{% for header in headers %}
#include "{{ header }}"
{% endfor %}
#include "c10/core/Scalar.h"

namespace at::native::cuda {

// Formulas of elements, with the numbers they use as members.
namespace {
{% for kernel in kernels %}

// {{ kernel.source }}
template <typename scalar_t>
struct {{ kernel.functor }} {
  using opmath_t = opmath_type<scalar_t>;
{% if kernel.is_mixed %}
  using real_t = c10::scalar_value_type_t<opmath_t>;
{% endif %}

{% for scalar in kernel.scalars %}
  {{ scalar.type }} {{ scalar.name }};
{% endfor %}
{% if kernel.scalars %}

{% endif %}
  C10_HOST_DEVICE {{ kernel.result }} operator()({{ kernel.element_parameters|commas }}) const {
{% for name in kernel.used %}
    const auto {{ name }} = static_cast<opmath_t>({{ name }}_element);
{% endfor %}
    return {{ kernel.returned }};
  }
};
{% endfor %}

}  // namespace
{% for kernel in kernels %}

// {{ kernel.schema }}
// {{ kernel.place }}
void {{ kernel.kernel }}({{ kernel.device_parameters|commas }}) {
  const LaunchPlan plan = launch_plan(iter);
  dispatch<{{ kernel.dtypes|commas }}>(
      plan.common_dtype, "{{ kernel.name }}", [&]<typename scalar_t>() {
{% if kernel.scalars %}
        using opmath_t = opmath_type<scalar_t>;
{% if kernel.is_mixed %}
        using real_t [[maybe_unused]] = c10::scalar_value_type_t<opmath_t>;
{% endif %}
{% endif %}
        const {{ kernel.functor }}<scalar_t> formula{ {{- kernel.scalars|map(attribute="value")|list|commas -}} };
        elementwise<{{ kernel.element_types|commas }}>(plan, "{{ kernel.name }}", formula);
      });
}
{% endfor %}

}  // namespace at::native::cuda
