// {{ banner }}
// What is written by hand for {{ topic }}: a definition that differs from its declaration here is not found by the linker.
#pragma once
#include "aten/dispatch/ChooseKernel.h"
#include "aten/iteration/TensorIterator.h"

namespace at::native {
{% for entry in entries %}

// {{ entry.schema }}
// {{ entry.place }}
{% for declaration in entry.declarations %}
{% if declaration.per_isa %}
{{ fill("TORCH_PY_KERNEL(" ~ declaration.head, declaration.parameters, "))") }}
{% else %}
{{ fill(declaration.head, declaration.parameters, ");") }}
{% endif %}
{% endfor %}
{% endfor %}

}  // namespace at::native
