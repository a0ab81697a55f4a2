// {{ banner }}
{% for header in standard_headers %}
#include <{{ header }}>
{% endfor %}
{% if standard_headers %}

{% endif %}
#include "aten/dispatch/ChooseKernel.h"
#include "aten/dispatch/DeviceKernels.h"
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
{% if declaration.scope == "isa" %}
{{ fill("TORCH_PY_KERNEL(" ~ declaration.head, declaration.parameters, "))") }}
{% else %}
{{ fill(declaration.head, declaration.parameters, ");") }}
{% endif %}
{% endfor %}
{% endfor %}

}  // namespace at::native
{% endif %}
{% if stubs %}

// Loops that have a variant for each instruction set or device.
namespace at::native {
namespace {

{% for stub in stubs %}
{% if stub.loop %}
{{ fill("const DeviceKernels<void(" ~ stub.types ~ ")> " ~ stub.name ~ "(", [stub.label, stub.cpu.split(", "), [stub.cuda] if stub.cuda != "nullptr" else []], ");") }}
{% else %}
{{ fill("const auto " ~ stub.name ~ " = ", stub.cpu.split(", "), ";") }}
{% endif %}
{% endfor %}

}  // namespace
}  // namespace at::native
{% endif %}

namespace at::wrappers {
namespace {
{% for section in sections %}

// {{ section.operator.schema }}
// {{ section.place }}
{% if section.checks %}
{{ fill("void check_" ~ section.operator.unambiguous_name ~ "(", section.checked_parameters, ") {") }}
{% for check in section.checks %}
{{ fill("  " ~ check.macro ~ "(", [check.condition, check.message], ");") }}
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

// {{ f.schema }}
{{ fill("constinit OperatorEntry " ~ f.struct ~ "::entry(", [f.entry_name|cpp_string, f.schema|string|cpp_string], ");") }}
{{ fill(f.result ~ " " ~ f.struct ~ "::call(", f.parameters, ") {") }}
{% if f.casts %}
  if (autocast::is_active()) {
    const autocast::Suspended inside;
    {{ "" if f.operator.autocast == "promote" else "const " }}autocast::Cast cast(autocast::Policy::{{ f.autocast_policy }}, inside);
{% if f.operator.autocast == "promote" %}
{% for argument in f.tensors %}
    cast.see({{ argument.name }});
{% endfor %}
{% endif %}
{{ fill("    return call(", f.cast_names, ");") }}
  }
{% endif %}
  const DispatchKeySet keys = effective_keys({{ r.key_expression(f) }});
{{ fill("  return entry.lookup<Schema*>(keys.highest())(", ["keys", f.names], ");") }}
}
{{ fill(f.result ~ " " ~ f.struct ~ "::redispatch(", ["DispatchKeySet keys", f.parameters], ") {") }}
{{ fill("  return entry.lookup<Schema*>(keys.highest())(", ["keys", f.names], ");") }}
}
{% endfor %}
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
{{ fill("  register_kernel<ops::" ~ w.function.struct ~ ">(", [w.keys, "&" ~ w.name, w.loop.kernel|cpp_string if w.loop else w.kernel_name|cpp_string, w.origin|cpp_string], ");") }}
{% endfor %}
{% if section.gradient == "none" %}
{% for f in section.functions if not (f.form == "inplace" and section.operator.has_inplace) %}
  register_without_gradient<ops::{{ f.struct }}>();
{% endfor %}
{% endif %}
{% endfor %}
  return true;
}();

}  // namespace
}  // namespace at::wrappers
