"""Optimisers and schedules of their learning rate."""

from torch_py.optim import lr_scheduler
from torch_py.optim.adam import Adam, AdamW
from torch_py.optim.optimizer import Optimizer
from torch_py.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "lr_scheduler"]
