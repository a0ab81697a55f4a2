// {{ banner }}
// The kernels and shape rules of {{ source_file }}.
// A definition there with other parameters is a link error.
#pragma once
#include "aten/dispatch/ChooseKernel.h"
#include "aten/iteration/TensorIterator.h"

namespace at::native {
{% for entry in entries %}

// {{ entry.schema }}
// {{ entry.place }}
{% for declaration in entry.declarations %}
{% include "aten/native/declarations/kernel.h" %}
{% endfor %}
{% endfor %}

}  // namespace at::native
