"""Constraints: sets in which parameters and samples must lie.

`constraint.check(value)` tells which events do.

A constraint has `event_dim`, the number of last dimensions that form one event, and `is_discrete`. Some
constraints depend on other parameters: `dependent` represents those that only an instance of a distribution
knows.
"""

from __future__ import annotations

from torch_py._namespace import adopt as _adopt
from torch_py.distributions.constraints import _base, _combined, _intervals, _matrices, _values
from torch_py.distributions.constraints._base import *
from torch_py.distributions.constraints._base import _Dependent, _DependentProperty
from torch_py.distributions.constraints._combined import *
from torch_py.distributions.constraints._combined import _Cat, _IndependentConstraint, _Stack
from torch_py.distributions.constraints._intervals import *
from torch_py.distributions.constraints._intervals import (
    _GreaterThan,
    _GreaterThanEq,
    _HalfOpenInterval,
    _IntegerGreaterThan,
    _IntegerInterval,
    _IntegerLessThan,
    _Interval,
    _LessThan,
)
from torch_py.distributions.constraints._matrices import *
from torch_py.distributions.constraints._matrices import (
    _CorrCholesky,
    _LowerCholesky,
    _LowerTriangular,
    _PositiveDefinite,
    _PositiveSemidefinite,
    _Square,
    _Symmetric,
)
from torch_py.distributions.constraints._values import *
from torch_py.distributions.constraints._values import _Boolean, _Multinomial, _OneHot, _Real, _Simplex

__all__ = [
    *_base.__all__,
    *_values.__all__,
    *_intervals.__all__,
    *_matrices.__all__,
    *_combined.__all__,
]
_adopt(globals(), _base, _values, _intervals, _matrices, _combined)
