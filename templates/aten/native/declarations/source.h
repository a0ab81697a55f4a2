// {{ banner }}
// Kernels and shape rules of {{ source_file }}: one that is defined there with other parameters is not found by the linker.
#pragma once
#include "aten/dispatch/ChooseKernel.h"
#include "aten/iteration/TensorIterator.h"

namespace at::native {
{% for entry in entries %}

// {{ entry.schema }}
// {{ entry.place }}
{% for declaration in entry.declarations %}
{% if declaration.scope == "isa" %}
{{ fill("TORCH_PY_KERNEL(" ~ declaration.head, declaration.parameters, "))") }}
{% elif declaration.scope == "cuda" %}
{{ fill("namespace cuda { " ~ declaration.head, declaration.parameters, "); }") }}
{% else %}
{{ fill(declaration.head, declaration.parameters, ");") }}
{% endif %}
{% endfor %}
{% endfor %}

}  // namespace at::native
