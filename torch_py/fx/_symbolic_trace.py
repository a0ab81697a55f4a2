"""Where programs look for a class of `torch.fx`."""

from torch_py.fx import symbolic_trace as symbolic_trace
from torch_py.fx import wrap as wrap
from torch_py.fx._absent import Tracer as Tracer


def is_fx_tracing() -> bool:
    return False


is_fx_symbolic_tracing = is_fx_tracing
