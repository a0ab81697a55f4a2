"""The standard's inspection API: capabilities, devices and dtypes of the namespace."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._array_api._dtypes import dtypes_of


class _NamespaceInfo:
    """Answers about dtypes and devices, as `__array_namespace_info__()` gives them."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        return _C._get_default_device()

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        default = _C.get_default_dtype()
        return {
            "real floating": default,
            "complex floating": _C.promote_types(default, _C.complex64),
            "integral": _C.int64,
            "indexing": _C.int64,
        }

    def devices(self) -> list[Any]:
        return [_C.device("cpu"), _C.device("meta")]

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """dtypes by name: all, of a kind, or of the kinds of a tuple.

        Raises ValueError for an unknown kind.
        """
        kinds = kind if isinstance(kind, tuple) else ("all" if kind is None else kind,)
        return {name: dtype for part in kinds for name, dtype in dtypes_of(part).items()}


def __array_namespace_info__() -> _NamespaceInfo:
    """The inspection API of the array API standard: capabilities, defaults, dtypes and devices."""
    return _NamespaceInfo()
