"""The compiler's back end: from graphs of operators to fused loops in C++.

`compile_fx` is the backend "inductor"; stages.py has the order of the stages, debug.py prints them.
"""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING
from typing import Any as _Any

from torch_py._inductor.options import list_mode_options as list_mode_options
from torch_py._inductor.options import list_options as list_options
from torch_py._pytorch_names.packages import lacking as _lacking

_absent = _lacking(__name__, __path__)


def __getattr__(name: str) -> _Any:
    if name == "debug":  # imported when it is first named
        return _importlib.import_module("torch_py._inductor.debug")
    return _absent(name)


if TYPE_CHECKING:
    from torch_py._inductor import debug as debug
