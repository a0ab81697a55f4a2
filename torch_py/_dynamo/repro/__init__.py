"""Graphs that a backend fails on, as programs, and the smallest part that still fails.

``TORCHDYNAMO_REPRO_AFTER`` says which graphs are watched: "dynamo" those that a backend of torch.compile
gets, "aot" those that inductor compiles after ahead-of-time autograd. ``TORCHDYNAMO_REPRO_LEVEL`` is

    1   a failure writes the whole graph as a program, repro.py
    2   a failure writes minifier_launcher.py, a program that looks for a part of the graph that fails
    3   the same is written before each graph is compiled: for those that end the process
    4   as 2, and also where results differ from eager mode

The program runs by itself; `python minifier_launcher.py` writes repro.py next to it.
"""

from torch_py._pytorch_names.packages import lacking as _lacking

__getattr__ = _lacking(__name__, __path__)
