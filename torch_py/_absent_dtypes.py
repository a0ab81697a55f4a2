"""Names of dtypes that PyTorch has and this library has not: libraries list them in tables that they never use.

A tensor of one cannot be made; that is a TypeError of the function that was to make it.
"""

from __future__ import annotations

from types import SimpleNamespace

# name -> (bytes of an element, whether it has a sign, whether it is a floating-point number)
_DTYPES = {
    "uint16": (2, False, False), "uint32": (4, False, False), "uint64": (8, False, False),
    "qint8": (1, True, False), "quint8": (1, False, False), "qint32": (4, True, False), "quint4x2": (1, False, False), "quint2x4": (1, False, False),
    "float8_e4m3fn": (1, True, True), "float8_e4m3fnuz": (1, True, True), "float8_e5m2": (1, True, True), "float8_e5m2fnuz": (1, True, True),
    "float8_e8m0fnu": (1, False, True), "float4_e2m1fn_x2": (1, True, True),
}  # fmt: skip


# name -> (largest, smallest normal number, distance from 1 to the next number): OCP 8-bit floating point, revision 1.0, and its variants.
_FLOATS = {
    "float8_e4m3fn": (448.0, 2.0**-6, 0.125), "float8_e4m3fnuz": (240.0, 2.0**-7, 0.125), "float8_e5m2": (57344.0, 2.0**-14, 0.25),
    "float8_e5m2fnuz": (57344.0, 2.0**-15, 0.25),
}  # fmt: skip


class AbsentDtype:
    """Stands where PyTorch has a dtype. Compares by identity, prints as the dtype would."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.itemsize, self.is_signed, self.is_floating_point = _DTYPES[name]
        self.is_complex = False

    @property
    def __finfo__(self) -> SimpleNamespace:
        """What `torch.finfo` says of it."""
        if self._name not in _FLOATS:
            raise AttributeError("__finfo__")
        largest, smallest, step = _FLOATS[self._name]
        numbers = {"max": largest, "min": -largest, "eps": step, "tiny": smallest, "smallest_normal": smallest, "resolution": 1.0}
        return SimpleNamespace(**numbers, bits=8 * self.itemsize, dtype=self._name)

    @property
    def __iinfo__(self) -> SimpleNamespace:
        """What `torch.iinfo` says of it."""
        if not self._name.startswith("uint"):
            raise AttributeError("__iinfo__")
        return SimpleNamespace(min=0, max=2 ** (8 * self.itemsize) - 1, bits=8 * self.itemsize, dtype=self._name)

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name

    __module__ = "torch_py"


absent_dtypes = {name: AbsentDtype(name) for name in _DTYPES}
