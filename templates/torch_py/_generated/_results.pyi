# {{ banner }}
from typing import NamedTuple

from torch_py import Tensor
{% for result in results %}

class {{ result.name }}(NamedTuple):
{% for name, type in result.fields %}
    {{ name }}: {{ type }}
{% endfor %}
{% endfor %}
