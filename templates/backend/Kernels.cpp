// {{ banner }}
// Gives the kernels of the backend to the operators when its library is loaded.
{% for header in headers %}
#include "{{ header }}"
{% endfor %}

namespace at::native::{{ backend }} {

{% for declaration in declarations %}
{{ declaration }};
{% endfor %}

namespace {

const bool registered = [] {
{% for k in kernels %}
  loops::{{ k.kernels.name }}.set(DeviceType::PrivateUse1, &{{ k.function }});
{% endfor %}
  return true;
}();

}  // namespace
}  // namespace at::native::{{ backend }}
