// {{ banner }}
// Everything that is written by hand for {{ topic }}. Kernel files include the header of their own declarations instead, so that
// adding an operator elsewhere in the topic does not recompile them.
#pragma once
{% for header in headers %}
#include "{{ header }}"
{% endfor %}
