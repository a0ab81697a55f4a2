// {{ banner }}

namespace torch::python::docs {
{% for callable in callables %}

extern const char {{ callable.c_name }}[];
const char {{ callable.c_name }}[] =
    {{ doc_of(callable)|cpp_lines(4) }};
{% endfor %}

}  // namespace torch::python::docs
