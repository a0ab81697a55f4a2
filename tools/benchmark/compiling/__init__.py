"""torch.compile: time to compile, cost of a call, and steady state of models, next to PyTorch."""

from .report import main

__all__ = ["main"]
