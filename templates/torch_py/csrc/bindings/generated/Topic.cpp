// {{ banner }}
#include "torch_py/csrc/bindings/Operators.h"

#include <limits>

{% if shard.makes_new %}
#include "torch_py/csrc/bindings/state/DefaultDevice.h"
{% endif %}
{% if shard.notices %}
#include "torch_py/csrc/bindings/calls/Notice.h"
{% endif %}
{% for header in headers %}
#include "{{ header }}"
{% endfor %}

namespace torch::python {

// What help() shows, from docs/{{ topic }}.cpp.
namespace docs {
{% for callable in shard.callables %}
extern const char {{ callable.c_name }}[];
{% endfor %}
}  // namespace docs

namespace {
{% if shard.notices %}

{% for notice in shard.notices %}
Notice {{ notice.name }}{ {{- notice.text|cpp_string -}} };
{% endfor %}
{% endif %}
{% for body in shard.bodies %}

// {{ body.function.schema }}
// {{ place_of(body.function.operator) }}
{% include "torch_py/csrc/bindings/generated/body.cpp" %}
{% endfor %}
{% for callable in shard.callables %}

{% include "torch_py/csrc/bindings/generated/callable.cpp" %}
{% endfor %}
{% for module in shard.modules() %}

const PyMethodDef {{ module|lower }}_methods[] = {
{% for callable in shard.of_module(module) %}
    {"{{ callable.name }}", as_method({{ callable.c_name }}), METH_FASTCALL | METH_KEYWORDS, docs::{{ callable.c_name }}},
{% endfor %}
};
{% if library is none %}
const RegisterMethods {{ module|lower }}_table({Module::{{ module }}, {{ module|lower }}_methods, {{ shard.of_module(module)|length }}});
{% endif %}
{% endfor %}

}  // namespace
{% if library is not none %}

// The module of the library installs these.
{% for module in ["Library", "Method"] %}
{% set count = shard.of_module(module)|length %}
extern const MethodTable {{ topic }}_{{ module|lower }}_table;
{% if count %}
const MethodTable {{ topic }}_{{ module|lower }}_table = {Module::Method, {{ module|lower }}_methods, {{ count }}};
{% else %}
const MethodTable {{ topic }}_{{ module|lower }}_table = {Module::Method, nullptr, 0};
{% endif %}
{% endfor %}
{% endif %}
}  // namespace torch::python
