"""The functions that checkpoint a function, or the parts of a sequence."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from torch_py import _C
from torch_py.utils.checkpoint._recomputation import _first_run
from torch_py.utils.checkpoint._reentrant import _as_one_node

if TYPE_CHECKING:
    from torch_py.nn.modules.module import Module

__all__ = ["checkpoint", "checkpoint_sequential", "noop_context_fn", "set_checkpoint_debug_enabled"]

_DETERMINISM_CHECKS = ("default", "none")


def noop_context_fn() -> tuple[contextlib.nullcontext[None], contextlib.nullcontext[None]]:
    """Two contexts without effect, the default for both runs.

    Example:
        >>> import torch_py.utils.checkpoint
        >>> len(torch.utils.checkpoint.noop_context_fn())
        2
    """
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Accepted and without effect: errors always say which tensors differ and how.

    Args:
        enabled: has no effect

    Example:
        >>> import torch_py.utils.checkpoint
        >>> with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):
        ...     pass
    """
    yield


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Calls a function without keeping its intermediate results: backward calls it again to compute them.

    Args:
        function: the function to call; the second call must do the same as the first
        args, kwargs: the arguments of the function. `preserve_rng_state=False` among them does not reach it:
            then the second call may draw other random numbers than the first
        use_reentrant: False is recommended and supports keywords, `torch.autograd.grad`, inputs that do not
            require grad, nesting and stopping early; True chooses the older implementation, and so does the
            default None, with a warning
        context_fn: returns two context managers, for the first and the second call; needs
            `use_reentrant=False`
        determinism_check: 'default' compares shapes, dtypes and devices of the tensors that both calls save;
            'none' does not
        debug: has no effect, as errors always say which tensors differ; default False
        early_stop: whether the second call ends at the last tensor that backward needs; default True

    Raises:
        CheckpointError: in backward, if the two calls differ
        ValueError: for options that exclude one another

    Example:
        >>> import torch_py.utils.checkpoint
        >>> x = torch.tensor(0.0, requires_grad=True)
        >>> torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False).backward()
        >>> x.grad
        tensor(1.)
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly; "
            "use_reentrant=False is recommended, and use_reentrant=True is what a call without it does.",
            stacklevel=2,
        )
        use_reentrant = True

    preserve_rng_state = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        return _without_reentrance(
            function, args, kwargs, context_fn, preserve_rng_state, determinism_check, early_stop
        )

    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    return _as_one_node(function, args, preserve_rng_state)


def _without_reentrance(
    function: Any,
    args: Any,
    kwargs: Any,
    context_fn: Any,
    preserve_rng_state: bool,
    determinism_check: str,
    early_stop: bool,
) -> Any:
    if determinism_check not in _DETERMINISM_CHECKS:
        raise ValueError(
            f"determinism_check should be one of {list(_DETERMINISM_CHECKS)} but got {determinism_check}"
        )

    contexts = context_fn()
    if not _C.is_grad_enabled():
        return function(*args, **kwargs)

    check = determinism_check == "default"
    return _first_run(function, args, kwargs, contexts, preserve_rng_state, early_stop, check)


def checkpoint_sequential(
    functions: Module | Iterable[Callable[[Any], Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Applies modules or functions one after another, in `segments` parts; all parts but the last are
    checkpointed.

    `functions` is an nn.Sequential or a list. Raises ValueError for unknown keywords.

    Args:
        functions: the modules or functions
        segments: the number of parts
        input: the input of the first
        use_reentrant: as in `checkpoint`; default None

    Example:
        >>> import torch_py.utils.checkpoint
        >>> model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
        >>> checkpoint_sequential = torch.utils.checkpoint.checkpoint_sequential
        >>> checkpoint_sequential(model, 2, torch.ones(1, 2), use_reentrant=False).shape
        torch.Size([1, 1])
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed "
            "explicitly; use_reentrant=False is recommended.",
            stacklevel=2,
        )
        use_reentrant = True

    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps: list[Any] = list(functions.children()) if hasattr(functions, "children") else list(functions)

    def run(first: int, last: int) -> Callable[[Any], Any]:
        def segment(value: Any) -> Any:
            for step in steps[first:last]:
                value = step(value)
            return value

        return segment

    size = len(steps) // segments
    bounds = [size * part for part in range(segments)]
    for first, last in itertools.pairwise(bounds):
        input = checkpoint(run(first, last), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return run(bounds[-1], len(steps))(input)
