"""The named tuples that operators return: `torch.return_types.max` has `values` and `indices`.

An operator makes its class when it first returns one; a class that is asked for before is made by a call.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._dispatch_keys import DispatchKey, ExcludeKeys
from torch_py._pytorch_names.packages import lacking as _lacking

_absent = _lacking(__name__)


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and not hasattr(_C._return_types, name):
        _call(name)
    if hasattr(_C._return_types, name):
        return getattr(_C._return_types, name)
    return _absent(name)


def _call(name: str) -> None:
    """Calls the operator of this name, if its results have names and it needs one tensor.

    What others, such as `triangular_solve`, need of their tensors is not in a schema.
    """
    place, function = (_C._linalg, name[7:]) if name.startswith("linalg_") else (_C._torch, name)
    for entry in _C._operator_schemas():
        if entry.partition(".")[0] != name or not hasattr(place, function):
            continue

        operator = _C._find_operator(entry)
        names = [result_name for result_name, *_ in operator._schema_results]
        if len(names) < 2 or not all(names):
            continue

        needed = [type for _, type, default, *_ in operator._schema_arguments if default is None]
        if needed.count("Tensor") == 1 and _VALUES.keys() >= {*needed}:
            with warnings.catch_warnings(), ExcludeKeys(1 << DispatchKey.Python):
                warnings.simplefilter("ignore")  # of operators that are deprecated
                getattr(place, function)(*(_VALUES[type]() for type in needed))
            return


# A tensor with two dimensions, and a number that is one of them and counts its elements.
_VALUES: dict[str, Callable[[], Any]] = {
    "Tensor": lambda: _C._torch.eye(1, dtype=_C.float32, device="cpu"),
    "int": lambda: 1,
    "SymInt": lambda: 1,
}
