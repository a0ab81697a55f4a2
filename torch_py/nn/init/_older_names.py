"""The names that functions had before they ended in an underscore, with warnings."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec

from torch_py._tensor import Tensor
from torch_py.nn.init._constant import constant_, dirac_, eye_
from torch_py.nn.init._random import normal_, sparse_, uniform_
from torch_py.nn.init._scaled import (
    kaiming_normal_,
    kaiming_uniform_,
    orthogonal_,
    xavier_normal_,
    xavier_uniform_,
)

__all__ = [
    "constant",
    "dirac",
    "eye",
    "kaiming_normal",
    "kaiming_uniform",
    "normal",
    "orthogonal",
    "sparse",
    "uniform",
    "xavier_normal",
    "xavier_uniform",
]

P = ParamSpec("P")


def _deprecated(name: str, fill: Callable[P, Tensor]) -> Callable[P, Tensor]:
    """Returns `fill` under its older name, without the underscore, which warns."""

    @functools.wraps(fill)
    def called(*args: P.args, **kwargs: P.kwargs) -> Tensor:
        warnings.warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning, stacklevel=2
        )
        return fill(*args, **kwargs)

    called.__name__ = called.__qualname__ = name
    called.__module__ = __name__
    return called


uniform = _deprecated("uniform", uniform_)
normal = _deprecated("normal", normal_)
constant = _deprecated("constant", constant_)
eye = _deprecated("eye", eye_)
dirac = _deprecated("dirac", dirac_)
xavier_uniform = _deprecated("xavier_uniform", xavier_uniform_)
xavier_normal = _deprecated("xavier_normal", xavier_normal_)
kaiming_uniform = _deprecated("kaiming_uniform", kaiming_uniform_)
kaiming_normal = _deprecated("kaiming_normal", kaiming_normal_)
orthogonal = _deprecated("orthogonal", orthogonal_)
sparse = _deprecated("sparse", sparse_)
