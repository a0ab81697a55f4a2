// {{ banner }}{{ " Compiled for size." if for_size else "" }}
#include "aten/dispatch/Dtypes.h"
#include "aten/iteration/Loops.h"
{% for header in headers %}
#include "{{ header }}"
{% endfor %}

namespace at::native {
{% if is_per_isa %}
inline namespace CPU_CAPABILITY {
{% endif %}
{# Without the attribute a long formula becomes a function call per element, which does not vectorise. #}
{% set inlined = " __attribute__((always_inline))" if is_per_isa else "" %}
{% for kernel in kernels %}

// {{ kernel.schema }}
// {{ kernel.source }}
// {{ kernel.place }}
void {{ kernel.kernel }}({{ kernel.parameters|commas }}) {
  dispatch<{{ kernel.dtypes|commas }}>(
      iter.common_dtype(), "{{ kernel.name }}", [&]<typename scalar_t>() {
        using opmath_t [[maybe_unused]] = opmath_type<scalar_t>;
{% if kernel.is_mixed %}
        using real_t [[maybe_unused]] = c10::scalar_value_type_t<opmath_t>;
{% endif %}
{% for scalar in kernel.scalars %}
        {{ scalar.conversion }}
{% endfor %}
        const auto formula = [=]({{ kernel.value_parameters|commas }}){{ inlined }} {
          return {{ kernel.value }};
        };
        cpu_kernel(iter, arithmetic<{{ kernel.element_types|commas }}>(formula));
      });
}
{% endfor %}

{% if is_per_isa %}
}  // namespace CPU_CAPABILITY
{% endif %}
}  // namespace at::native
