// {{ banner }}
// Gives the kernels of the CUDA library to the operators of {{ topic }} when it is loaded.
#include "{{ header }}"

namespace at::native::cuda {

{% for declaration in declarations %}
{{ declaration }};
{% endfor %}

namespace {

const bool registered = [] {
{% for k in kernels %}
  loops::{{ k.name }}.set(DeviceType::CUDA, &{{ k.function }});
{% endfor %}
  return true;
}();

}  // namespace
}  // namespace at::native::cuda
