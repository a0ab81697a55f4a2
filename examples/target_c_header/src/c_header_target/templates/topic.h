/* {{ banner }} */
#ifndef {{ guard }}
#define {{ guard }}

#include <math.h>
#include <stddef.h>

{% for f in functions %}
/* {{ f.doc }} */
static inline double {{ f.name }}({{ f.parameters|commas }}) {
  return {{ f.value }};
}

static inline void {{ f.name }}_n({{ f.loop_parameters|commas }}) {
  for (size_t i = 0; i < count; ++i) out[i] = {{ f.name }}({{ f.loop_arguments|commas }});
}

{% endfor %}
#endif
