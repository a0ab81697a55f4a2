"""`torch.compile` and the functions around it. The compiler itself is imported when something is compiled."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from torch_py._C import from_numpy
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.compiler._compile import compile as compile
from torch_py.compiler._marks import allow_in_graph as allow_in_graph
from torch_py.compiler._marks import assume_constant_result as assume_constant_result
from torch_py.compiler._marks import disable as disable
from torch_py.compiler._marks import substitute_in_graph as substitute_in_graph
from torch_py.compiler._optimized_module import OptimizedModule as OptimizedModule
from torch_py.compiler._questions import is_compiling as is_compiling
from torch_py.compiler._questions import is_dynamo_compiling as is_dynamo_compiling
from torch_py.compiler._questions import is_exporting as is_exporting
from torch_py.compiler._stance import set_stance as set_stance
from torch_py.utils._pytree import tree_map

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "keep_portable_guards_unsafe",
    "list_backends",
    "reset",
    "set_stance",
    "skip_guard_on_inbuilt_nn_modules_unsafe",
    "substitute_in_graph",
    "wrap_numpy",
]

Function = TypeVar("Function", bound=Callable[..., Any])


def reset() -> None:
    """Drops all compiled code: functions are compiled anew when they are called."""
    # Imported here: programs that compile nothing do without the compiler.
    from torch_py._dynamo import entry

    entry.reset()


def cudagraph_mark_step_begin() -> None:
    """Does nothing: this build has no CUDA graphs."""


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The names of the backends without one of these tags."""
    # As in `reset`.
    from torch_py._dynamo.backends import registry

    return registry.list_backends(exclude_tags)


def wrap_numpy(fn: Function) -> Callable[..., Any]:
    """`fn` of NumPy arrays as a function of tensors; results have no gradient."""

    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        given = tree_map(
            lambda value: value.numpy() if isinstance(value, Tensor) else value, (arguments, keywords)
        )
        return tree_map(
            lambda value: from_numpy(value) if type(value).__name__ == "ndarray" else value,
            fn(*given[0], **given[1]),
        )

    return wrapped


def keep_portable_guards_unsafe(guards: Any) -> list[bool]:
    return [True for _ in guards]


def skip_guard_on_inbuilt_nn_modules_unsafe(guards: Any) -> list[bool]:
    return [True for _ in guards]


@contextlib.contextmanager
def _patch_engine_backward() -> Iterator[None]:
    yield


__getattr__ = _lacking(__name__, __path__)
