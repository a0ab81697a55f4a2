// {{ banner }}
#include "aten/dispatch/Dtypes.h"
#include "aten/iteration/Loops.h"
{% for header in headers %}
#include "{{ header }}"
{% endfor %}

namespace at::native {
{% if is_per_isa %}
inline namespace CPU_CAPABILITY {
{% endif %}
{# A long formula would be called, element by element, and calls do not vectorise. #}
{% set inlined = "__attribute__((always_inline)) " if is_per_isa else "" %}
{% for kernel in kernels %}

// {{ kernel.schema }}
// {{ kernel.source }}
// {{ kernel.place }}
{{ fill("void " ~ kernel.kernel ~ "(", kernel.parameters, ") {") }}
  dispatch<{{ kernel.dtypes|join(", ") }}>(
      iter.common_dtype(), "{{ kernel.name }}", [&]<typename scalar_t>() {
        using opmath_t = opmath_type<scalar_t>;
{% for line in kernel.scalars %}
        {{ line }}
{% endfor %}
{{ fill("        cpu_kernel(iter, [=](", kernel.lambda_parameters, ") " ~ inlined ~ "-> " ~ kernel.result ~ " {") }}
{% for name in kernel.used %}
          const auto {{ name }} = static_cast<opmath_t>({{ name }}_element);
{% endfor %}
          return static_cast<{{ kernel.result }}>({{ kernel.value }});
        });
      });
}
{% endfor %}

{% if is_per_isa %}
}  // namespace CPU_CAPABILITY
{% endif %}
}  // namespace at::native
