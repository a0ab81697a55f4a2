"""What is meant to differ from PyTorch, operator by operator, with the reason. Everything that is not listed here must agree."""

from __future__ import annotations

from tests.subject import WITH_PEER

# Values that no test can compare. Operators with a ``Generator`` argument are random and need no entry.
WITHOUT_VALUES: dict[str, str] = {
    "empty": "uninitialised memory",
    "empty_strided": "uninitialised memory",
    "empty_like": "uninitialised memory",
    "new_empty": "uninitialised memory",
    "new_empty_strided": "uninitialised memory",
    "rand_like": "random",
    "randn_like": "random",
}

# (operator, dtype) that are not compared with PyTorch. "*" stands for every dtype.
NOT_COMPARED: dict[tuple[str, str], str] = {}

# Operators of PyTorch that resize ``out=`` without the warning.
RESIZES_QUIETLY = {"log_sigmoid"} if WITH_PEER else set()

# Operators whose strides differ where both are valid.
STRIDES: dict[str, str] = {}

# Operators without second derivatives.
ONCE_DIFFERENTIABLE: dict[str, str] = {"lgamma": "the derivative of digamma is no operator yet"}
