"""XPU as a program meets it on a build without: questions are answered, requests are refused."""

from torch_py._absent_device import fill as _fill

_fill(globals(), "xpu", RuntimeError)
