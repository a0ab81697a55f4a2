"""Learning rate schedules: each `step()` sets the rates of the optimizer's groups for the next epoch."""

from torch_py.optim.lr_scheduler._base import LRScheduler
from torch_py.optim.lr_scheduler._composed import ChainedScheduler, SequentialLR
from torch_py.optim.lr_scheduler._cycles import CosineAnnealingWarmRestarts, CyclicLR
from torch_py.optim.lr_scheduler._decays import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from torch_py.optim.lr_scheduler._one_cycle import OneCycleLR
from torch_py.optim.lr_scheduler._plateau import ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

_LRScheduler = LRScheduler  # the name that it had when it was private, which programs still use
