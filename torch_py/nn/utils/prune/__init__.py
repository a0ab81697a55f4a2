"""Pruning: parameters are multiplied by masks before every forward.

A pruned parameter NAME becomes the parameter NAME_orig, the buffer NAME_mask and an attribute NAME that a
hook computes before forward. A method chooses the elements that stay (`compute_mask`); several methods on one
parameter form a PruningContainer.
"""

from __future__ import annotations

from torch_py._namespace import adopt as _adopt
from torch_py.nn.utils.prune import _base, _functions, _methods
from torch_py.nn.utils.prune._base import *
from torch_py.nn.utils.prune._functions import *
from torch_py.nn.utils.prune._methods import *

__all__ = [*_base.__all__, *_methods.__all__, *_functions.__all__]
_adopt(globals(), _base, _methods, _functions)
