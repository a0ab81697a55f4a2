"""The names of `torch.profiler` under their older module."""

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.profiler._profile import profile as profile
from torch_py.profiler._profile import tensorboard_trace_handler as tensorboard_trace_handler
from torch_py.profiler._schedule import ProfilerAction as ProfilerAction
from torch_py.profiler._schedule import schedule as schedule

__getattr__ = _lacking(__name__)
