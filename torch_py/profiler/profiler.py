"""The names of `torch.profiler` under their older module."""

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.profiler._profile import ProfilerAction as ProfilerAction
from torch_py.profiler._profile import profile as profile
from torch_py.profiler._profile import schedule as schedule
from torch_py.profiler._profile import tensorboard_trace_handler as tensorboard_trace_handler

__getattr__ = _lacking(__name__)
