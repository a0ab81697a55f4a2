// {{ banner }}
// The kernels of {{ topic }} by device.
#pragma once
#include "aten/dispatch/DeviceKernels.h"

namespace at::native::loops {

{% for k in kernels %}
extern TORCH_PY_API DeviceKernels<{{ k.signature }}> {{ k.name }};
{% endfor %}

}  // namespace at::native::loops
