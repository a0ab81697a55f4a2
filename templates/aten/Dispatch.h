// {{ banner }}
// From a dtype known at run time to a C++ type:
// AT_DISPATCH_FLOATING(iter.common_dtype(), "exp", [&] { ... scalar_t ... });
#pragma once
#include "aten/dispatch/Dtypes.h"
{% for macro in macros %}

// {{ macro.members|commas }}
#define {{ macro.name }}(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
{% for constant in macro.constants %}
                     AT_DISPATCH_CASE({{ constant }}, __VA_ARGS__){% if loop.last %}){% else %} \
{% endif %}
{% endfor %}

{% endfor %}
