"""All tests of all operators of the package: values, forms, layouts, gradients, transforms, the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np
import power_ops
import power_ops.samples

from torch_py.testing.operators import OperatorTests


def sum_of_squares(array: Any, dim: Any = None, keepdim: bool = False) -> Any:
    array = np.asarray(array)
    axes = None if dim is None or dim == [] or array.ndim == 0 else tuple(np.atleast_1d(dim).tolist())
    return np.sum(array * array, axis=axes, keepdims=keepdim and array.ndim > 0)


class TestOperators(OperatorTests):
    package = power_ops
    references = {"cube": lambda array: np.asarray(array) ** 3, "sum_of_squares": sum_of_squares}
