// {{ banner }}
// Everything that is written by hand for {{ topic }}. Kernel files include the header of their own
// declarations instead: adding an operator to the topic must not recompile all of them.
#pragma once
{% for header in headers %}
#include "{{ header }}"
{% endfor %}
