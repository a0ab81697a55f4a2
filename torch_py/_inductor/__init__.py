"""The compiler's back end: from graphs of operators to fused loops in C++.

`compile_fx` is the backend "inductor"; stages.py has the order of the stages, debug.py prints them.
"""

from torch_py._inductor.options import list_mode_options as list_mode_options
from torch_py._inductor.options import list_options as list_options
from torch_py._pytorch_names.packages import lacking as _lacking

__getattr__ = _lacking(__name__, __path__)
