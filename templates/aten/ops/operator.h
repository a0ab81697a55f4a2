// {{ banner }}
#pragma once
#include "aten/core/Tensor.h"
#include "c10/dispatch/OperatorEntry.h"

namespace at {
namespace ops {
{% for declared in functions %}
{% set f = declared.function %}

// {{ f.schema }}
// {{ declared.place }}
struct TORCH_PY_API {{ f.struct }} {
  using Schema = {{ f.result }}(DispatchKeySet{{ f.types|more }});
  static OperatorEntry entry;
  static {{ f.result }} call({{ f.parameters|commas }});
  static {{ f.result }} redispatch(DispatchKeySet keys{{ f.parameters|more }});
};
{% endfor %}

}  // namespace ops
{% for declared in functions %}
{% set f = declared.function %}
{% for inline in declared.inlines %}

/// {{ f.schema.name }}: docs/operators/{{ f.operator.topic }}.md
{{ "[[deprecated(" ~ inline.notice|cpp_string ~ ")]] " if inline.notice }}inline {{ f.result }} {{ inline.name }}({{ inline.parameters|commas }}) {
  return ops::{{ f.struct }}::call({{ inline.arguments|commas }});
}
{% endfor %}
{% endfor %}

}  // namespace at
