// {{ banner }}
#include "torch_py/csrc/autograd/generated/{{ topic }}Nodes.h"
{% for header in standard_headers %}
#include <{{ header }}>
{% endfor %}
#include "aten/dispatch/Owned.h"
#include "aten/dispatch/Register.h"
{% for header in headers %}
#include "{{ header }}"
{% endfor %}

namespace torch::autograd::generated {

using namespace at;
{% set take_lists = nodes|selectattr("lists")|list %}
{% set give_lists = nodes|selectattr("joins_gradients")|list %}
{% if take_lists or give_lists %}

namespace {
{% if take_lists %}

/// Whether a gradient is wanted for any of the `count` edges that begin at `first`.
bool should_compute_any(const Node& node, size_t first, size_t count) {
  for (size_t edge = first; edge < first + count; ++edge) {
    if (node.should_compute_output(edge)) return true;
  }
  return false;
}
{% endif %}
{% if give_lists %}

/// Whether any result has a gradient; without one, none goes on.
bool any_defined(const variable_list& grads) {
  for (const Tensor& grad : grads) {
    if (grad.defined()) return true;
  }
  return false;
}
{% endif %}

}  // namespace
{% endif %}
{% for node in nodes %}

// {{ node.operator.schema }}
// {{ node.place }}
{% include "torch_py/csrc/autograd/generated/node.cpp" %}
{% endfor %}

namespace {
{% for node in nodes %}
{% for f in node.functions %}

// {{ f.schema }}
// {{ node.place }}
{% include "torch_py/csrc/autograd/generated/" ~ f.form ~ ".cpp" %}
{% endfor %}
{% endfor %}
{% for f in decomposed_out %}

// {{ f.schema }}
{% include "torch_py/csrc/autograd/generated/out.cpp" %}
{% endfor %}

const bool registered = [] {
  const char* origin = "torch_py/csrc/autograd/generated/{{ topic }}Nodes.cpp";
{% for node in nodes %}
{% for f in node.functions %}
{% set label = "no gradient through out" if f.form == "out" else node.name %}
  register_kernel<ops::{{ f.struct }}>({{ node.keys }}, &{{ f.struct }}, {{ label|cpp_string }}, origin);
{% endfor %}
{% endfor %}
{% for f in decomposed_out %}
  register_kernel<ops::{{ f.struct }}>({{ keys_of(f.operator) }}, &{{ f.struct }}, "no gradient through out", origin);
{% endfor %}
  return true;
}();

}  // namespace
}  // namespace torch::autograd::generated
