{# The tables of a Python function or method, and its entry point. #}
{% set self = "self" if callable.is_method else "" %}
{% for overload in callable.signatures if overload.own_table %}
const Parameter {{ overload.table }}[] = {
{% for parameter in overload.parameters %}
    {{ parameter.row }},
{% endfor %}
};
{% endfor %}
const Signature {{ callable.c_name }}_signatures[] = {
{% for overload in callable.signatures %}
{% set table = overload.table if overload.parameters else "nullptr" %}
    { {{- overload.text|cpp_string }}, {{ table }}, {{ overload.parameters|length }}, {{ overload.self_slot }}},
{% endfor %}
};
const Function {{ callable.c_name }}_function = { {{- callable.name|cpp_string }}, {{ callable.owner|cpp_string }}, {{ callable.c_name }}_signatures, {{ callable.signatures|length }}{% if callable.deprecated %}, {{ callable.deprecated|length }}{% endif %}};

PyObject* {{ callable.c_name }}(PyObject*{{ " self" if self else "" }}, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  HANDLE_ERRORS
{% if callable.notice %}
  {{ callable.notice.name }}.give();
{% endif %}
  Arguments call;

{% if callable.fast_by_count %}
  if (kwnames == nullptr && !has_function_modes(){{ " && is_plain_tensor(self)" if self else "" }}) {
    switch (nargs) {
{% for count, calls in callable.fast_by_count %}
      case {{ count }}:
{% for overload, fast in calls %}
{% if fast.tests %}
        if ({{ fast.tests|join(" && ") }}) {
          call.set({{ "self, " if self else "" }}args, nargs);
          return {{ overload.body.name }}(call);
        }
{% else %}
        call.set({{ "self, " if self else "" }}args, nargs);
        return {{ overload.body.name }}(call);
{% endif %}
{% endfor %}
{% if not calls|rejectattr("1.tests")|list %}
        break;
{% endif %}
{% endfor %}
      default: break;
    }
  }

{% endif %}
  switch (call.bind({{ callable.c_name }}_function, {{ self or "nullptr" }}, args, nargs, kwnames)) {
{% for overload in callable.overloads %}
    case {{ loop.index0 }}: return {{ overload.body.name }}(call);
{% endfor %}
{% for overload in callable.deprecated %}
    case {{ callable.overloads|length + loop.index0 }}:
      call.modernize({{ callable.replacement(overload) }}, { {{- overload.order|join(", ") -}} });
      return {{ overload.body.name }}(call);
{% endfor %}
    default: return call.call_override({{ callable.c_name }}_function);
  }
  END_HANDLE_ERRORS_OF({{ callable.c_name }}_function.name)
}
