# {{ banner }}
# mypy: disable-error-code="overload-cannot-match, overload-overlap, override"
from collections.abc import Sequence
from typing import NamedTuple, overload

{% if stubs|selectattr("notice")|list %}
from typing_extensions import deprecated

{% endif %}
import torch_py as torch
from torch_py import Tensor
from torch_py._C import Generator, Number, _bool, _float, _int, device, dtype, layout, memory_format
{% for result in results %}

class {{ result.name }}(NamedTuple):
{% for name, type in result.fields %}
    {{ name }}: {{ type }}
{% endfor %}
{% endfor %}
{% for stub in stubs %}

{% if stub.is_overload %}
@overload
{% endif %}
{% if stub.notice %}
@deprecated({{ stub.notice|cpp_string }})
{% endif %}
def {{ stub.name }}({{ stub.parameters }}) -> {{ stub.result }}:
    r'''{{ stub.doc|indent }}'''
{% endfor %}
