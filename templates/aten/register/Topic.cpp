// {{ banner }}
{% for header in standard_headers %}
#include <{{ header }}>
{% endfor %}
{% if standard_headers %}

{% endif %}
#include "aten/dispatch/Boxing.h"
#include "aten/dispatch/ChooseKernel.h"
#include "aten/dispatch/DeviceKernels.h"
{% if left_out %}
#include "aten/dispatch/LeftOut.h"
{% endif %}
#include "aten/dispatch/Outputs.h"
#include "aten/dispatch/Register.h"
#include "aten/iteration/ReductionPlan.h"
{% for header in headers|sort %}
#include "{{ header }}"
{% endfor %}
{% if formulas %}

// Kernels generated from formulas.
namespace at::native {

{% for entry in formulas %}
{% for declaration in entry.declarations %}
{% include "aten/native/declarations/kernel.h" %}
{% endfor %}
{% endfor %}

}  // namespace at::native
{% endif %}
{% if kernels %}

// Kernels by device. Those of the CPU are chosen here; a backend sets its own when it is loaded.
namespace at::native::loops {

{% for k in kernels %}
DeviceKernels<{{ k.signature }}> {{ k.name }}({{ k.entry }}, {{ k.chosen }}, /*written=*/{{ k.written }}{{ ", " ~ k.meta if k.meta }});
{% endfor %}

}  // namespace at::native::loops
{% endif %}

// The functions that are registered: checks, then the kernel as the operator's structure calls it.
namespace at::wrappers {
namespace {
{% for section in sections %}

// {{ section.operator.schema }}
// {{ section.place }}
{% if section.checks %}
void check_{{ section.operator.unambiguous_name }}({{ section.checked_parameters|commas }}) {
{% for check in section.checks %}
  {{ check.macro }}({{ check.condition }}{{ check.message|more }});
{% endfor %}
}
{% endif %}
{% for wrapper in section.wrappers %}
{% if section.checks or not loop.first %}

{% endif %}
{% include "aten/register/" ~ wrapper.style ~ ".cpp" %}
{% endfor %}
{% endfor %}

}  // namespace
}  // namespace at::wrappers

namespace at::ops {
{% for section in sections %}
{% for f in section.functions %}

{% include "aten/register/call.cpp" %}
{% endfor %}
{% endfor %}
{% for f in left_out %}

{% include "aten/register/left_out.cpp" %}
{% endfor %}

}  // namespace at::ops

namespace at::wrappers {
namespace {

const bool registered = [] {
{% for section in sections %}
{% for f in section.functions %}
  register_operator<ops::{{ f.struct }}>();
{% endfor %}
{% for w in section.wrappers %}
  register_wrapper<ops::{{ w.function.struct }}, &{{ w.name }}>({{ w.keys }}, {{ w.label|cpp_string }}, {{ w.origin|cpp_string }});
{% endfor %}
{% for f in section.functions if f.casts %}
  autocast::register_kernels<ops::{{ f.struct }}, {{ f.autocast_policies|commas }}>();
{% endfor %}
{% if section.gradient == "none" %}
{% for f in section.functions if not (f.form == "inplace" and section.operator.has_inplace) %}
  register_without_gradient<ops::{{ f.struct }}>({{ section.autograd_keys if section.autograd_keys != "kAutogradKeys" }});
{% endfor %}
{% endif %}

{% endfor %}
{% for f in left_out %}
  register_operator<ops::{{ f.struct }}>();
{% endfor %}
  return true;
}();

}  // namespace
}  // namespace at::wrappers
