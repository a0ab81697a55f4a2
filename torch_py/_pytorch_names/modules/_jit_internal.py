"""Decorators among TorchScript's internals that libraries import. They return functions unchanged."""

from __future__ import annotations

from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.jit import Final as Final
from torch_py.jit import _overload as _overload
from torch_py.jit import _overload_method as _overload_method
from torch_py.jit import export as export
from torch_py.jit import ignore as ignore
from torch_py.jit import is_scripting as is_scripting
from torch_py.jit import unused as unused


def _copy_to_script_wrapper(fn: Any) -> Any:
    return fn


def boolean_dispatch(
    arg_name: str,
    arg_index: int,
    default: bool,
    if_true: Any,
    if_false: Any,
    module_name: str,
    func_name: str,
) -> Any:
    """A function that calls `if_true` or `if_false`, by its boolean argument `arg_name`, at `arg_index`."""

    def chosen(*arguments: Any, **keywords: Any) -> Any:
        flag = arguments[arg_index] if arg_index < len(arguments) else keywords.get(arg_name, default)
        return (if_true if flag else if_false)(*arguments, **keywords)

    chosen.__name__ = func_name
    return chosen


__getattr__ = _lacking(__name__)
