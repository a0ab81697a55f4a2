// {{ banner }}
#pragma once
#include "aten/core/Tensor.h"
#include "c10/dispatch/OperatorEntry.h"

namespace at {
namespace ops {
{% for f in functions %}

// {{ f.schema }}
// {{ f.place }}
struct TORCH_PY_API {{ f.struct }} {
{{ fill("  using Schema = " ~ f.result ~ "(", ["DispatchKeySet", f.types], ");") }}
  static OperatorEntry entry;
{{ fill("  static " ~ f.result ~ " call(", f.parameters, ");") }}
{{ fill("  static " ~ f.result ~ " redispatch(", ["DispatchKeySet keys", f.parameters], ");") }}
};
{% endfor %}

}  // namespace ops
{% for f in functions %}
{% for inline in f.inlines %}

{{ f.summary | comment("/// ") }}
{{ fill("inline " ~ f.result ~ " " ~ f.name ~ "(", inline.parameters, ") {") }}
{{ fill("  return ops::" ~ f.struct ~ "::call(", inline.arguments, ");") }}
}
{% endfor %}
{% endfor %}

}  // namespace at
