// {{ banner }}
#pragma once
#include "torch_py/csrc/autograd/Node.h"
#include "torch_py/csrc/autograd/SavedVariable.h"
#include "torch_py/csrc/autograd/Variable.h"

namespace torch::autograd::generated {
{% for node in nodes %}

// {{ node.operator.schema }}
// {{ node.place }}
struct TORCH_PY_API {{ node.name }} final : Node {
  const char* name() const override { return "{{ node.name }}"; }
  variable_list apply(variable_list&& grads) override;
{% if node.tensors %}
  void release_variables() override;
{% endif %}
{% if node.saved or node.tensors %}
  std::vector<const char*> saved_names() const override;
  SavedValue saved_value(std::string_view name) const override;
{% endif %}
{% if node.saved or node.tensors or node.infos or node.lists %}

{% endif %}
{% for tensor in node.tensors %}
  {{ "std::vector<SavedVariable>" if tensor.is_list else "SavedVariable" }} {{ tensor.member }};
{% endfor %}
{% for saved in node.saved %}
  {{ saved.type }} {{ saved.member }};
{% endfor %}
{% for name in node.infos %}
  InputInfo {{ name }}_info_;
{% endfor %}
{% for name in node.lists %}
  size_t {{ name }}_size_ = 0;
{% endfor %}
};
{% endfor %}

}  // namespace torch::autograd::generated
