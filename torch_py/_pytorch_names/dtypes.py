"""Dtypes that PyTorch has and torch_py does not, which libraries list in tables.

Functions raise TypeError when they are asked for a tensor of one.
"""

from __future__ import annotations

# name -> (bytes of an element, whether it has a sign, whether it is a floating-point number)
_DTYPES = {
    "qint8": (1, True, False),
    "quint8": (1, False, False),
    "qint32": (4, True, False),
    **{f"uint{bits}": (1, False, False) for bits in range(1, 8)},
    "quint4x2": (1, False, False),
    "quint2x4": (1, False, False),
    "float4_e2m1fn_x2": (1, True, True),
}


class AbsentDtype:
    """Takes the place of a dtype of PyTorch. Compares by identity and prints as the dtype would."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.itemsize, self.is_signed, self.is_floating_point = _DTYPES[name]
        self.is_complex = False

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name

    __module__ = "torch_py"


absent_dtypes = {name: AbsentDtype(name) for name in _DTYPES}
