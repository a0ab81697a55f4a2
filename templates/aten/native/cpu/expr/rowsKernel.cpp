// {{ banner }}
#include "aten/dispatch/Dtypes.h"
{% if kernels|selectattr("single")|list %}
#include "aten/iteration/ReductionLoops.h"
#include "aten/iteration/RowOps.h"
{% endif %}
{% if kernels|rejectattr("single")|list %}
#include "aten/iteration/RowLoops.h"
{% endif %}
{% for header in headers %}
#include "{{ header }}"
{% endfor %}

namespace at::native {
{% if is_per_isa %}
inline namespace CPU_CAPABILITY {
{% endif %}
{# Without the attribute a long formula becomes a function call per element, which does not vectorise. #}
{% set inlined = " __attribute__((always_inline))" if is_per_isa else "" %}
{% for kernel in kernels if kernel.single %}
{% if loop.first %}

namespace {
{% endif %}

{% include "aten/native/expr/single_reduction.h" %}
{% if loop.last %}

}  // namespace
{% endif %}
{% endfor %}
{% for kernel in kernels %}

// {{ kernel.schema }}
// {{ kernel.source }}
// {{ kernel.place }}
{% include "aten/native/expr/row_kernel_head.h" %}
{% if kernel.single %}
        cpu_reduce(iter, {{ kernel.struct }}<scalar_t>{ {{- kernel.members|map(attribute=1)|list|commas -}} });
{% else %}
{% for stage in kernel.stages %}
        const auto map{{ loop.index0 }} = [=]({{ stage.parameters|commas }}){{ inlined }} {
{% for name, value in stage.locals %}
          const auto {{ name }} = {{ value }};
{% endfor %}
{% if stage.is_pass %}
          return row_array<opmath_t>({{ stage.values|commas }});
{% else %}
          return static_cast<opmath_t>({{ stage.values[0] }});
{% endif %}
        };
{% endfor %}
        const auto stages = std::make_tuple({{ kernel.calls|commas }});
        const auto finish = [=]({{ kernel.finish_parameters|commas }}){{ inlined }} {
          return {{ kernel.finish }};
        };
{% if kernel.is_reduction %}
        reduce_rows<scalar_t, {{ kernel.result }}>(plan, stages, finish);
{% else %}
        transform_rows<scalar_t, {{ kernel.result }}, {{ kernel.tensors|length }}>(plan, stages, finish);
{% endif %}
{% endif %}
      });
}
{% endfor %}

{% if is_per_isa %}
}  // namespace CPU_CAPABILITY
{% endif %}
}  // namespace at::native
