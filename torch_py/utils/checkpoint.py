"""Activation checkpointing: saves memory by computing intermediate results again in backward (Chen et al.
2016).

There are two ways. Without reentrance (``use_reentrant=False``, recommended) the function runs as usual, but
the tensors it saves are replaced by placeholders; when backward reads the first of them, the function runs
again. With reentrance the whole function is one node of the graph, whose backward runs the function and then
a backward pass of its own.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from torch_py import _C, random
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.amp import autocast
from torch_py.autograd import Function
from torch_py.autograd import backward as _backward
from torch_py.autograd.grad_mode import enable_grad, no_grad
from torch_py.autograd.graph import saved_tensors_hooks
from torch_py.utils._selective_checkpoint import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    _CachedTorchDispatchMode,
    _CachingTorchDispatchMode,
    create_selective_checkpoint_contexts,
)

if TYPE_CHECKING:
    from torch_py.nn.modules.module import Module

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "SAC_IGNORED_OPS",
    "SelectiveCheckpointContext",
    "_CachedTorchDispatchMode",
    "_CachingTorchDispatchMode",
    "checkpoint",
    "checkpoint_sequential",
    "check_backward_validity",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]


class CheckpointError(RuntimeError):
    """Raised when the second run of a checkpointed function differs from the first.

    Example:
        >>> import torch_py.utils.checkpoint
        >>> issubclass(torch.utils.checkpoint.CheckpointError, RuntimeError)
        True
    """


def noop_context_fn() -> tuple[contextlib.nullcontext[None], contextlib.nullcontext[None]]:
    """Two contexts without effect, the default for both runs.

    Example:
        >>> import torch_py.utils.checkpoint
        >>> len(torch.utils.checkpoint.noop_context_fn())
        2
    """
    return contextlib.nullcontext(), contextlib.nullcontext()


_DETERMINISM_CHECKS = ("default", "none")
# Set by set_checkpoint_early_stop; None means that each call decides.
_early_stop_everywhere: bool | None = None


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Decides for all checkpoints in this block whether the second run
    ends as soon as backward has what it needs.

    Args:
        enable: whether it ends early

    Example:
        >>> import torch_py.utils.checkpoint
        >>> with torch.utils.checkpoint.set_checkpoint_early_stop(False):
        ...     pass
    """
    global _early_stop_everywhere
    before = _early_stop_everywhere
    _early_stop_everywhere = enable
    try:
        yield
    finally:
        _early_stop_everywhere = before


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


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warns if none of the tensors among `inputs` requires grad.

    Args:
        inputs: the inputs

    Example:
        >>> import torch_py.utils.checkpoint
        >>> torch.utils.checkpoint.check_backward_validity([torch.ones(1, requires_grad=True)])
    """
    if not any(value.requires_grad for value in inputs if isinstance(value, Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


def detach_variable(inputs: Any) -> tuple[Any, ...]:
    """The inputs with their tensors detached; they require grad as before.

    Raises RuntimeError unless `inputs` is a tuple.

    Args:
        inputs: the inputs

    Example:
        >>> import torch_py.utils.checkpoint
        >>> torch.utils.checkpoint.detach_variable((torch.ones(1) * 2,))
        (tensor([2.]),)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}"
        )
    return tuple(
        value.detach().requires_grad_(value.requires_grad) if isinstance(value, Tensor) else value
        for value in inputs
    )


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The indices of the CUDA devices that tensors among the arguments are on, and the states of their random
    generators.

    Args:
        args: the arguments

    Example:
        >>> import torch_py.utils.checkpoint
        >>> torch.utils.checkpoint.get_device_states(torch.ones(1))
        ([], [])
    """
    places: set[int] = set()
    _collect_devices(args, places)
    if not places:
        return [], []

    # Imported on first use: only tensors of CUDA devices need it.
    from torch_py.cuda import random as cuda_random

    return sorted(places), [cuda_random.get_rng_state(place) for place in sorted(places)]


def _collect_devices(value: Any, places: set[int]) -> None:
    if isinstance(value, Tensor):
        if value.is_cuda:
            places.add(value.get_device())
    elif isinstance(value, dict):
        for item in value.values():
            _collect_devices(item, places)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _collect_devices(item, places)


def set_device_states(
    devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None
) -> None:
    """Restores what `get_device_states` returned. Raises RuntimeError for devices that are not there.

    Args:
        devices: the indices of the devices
        states: the states
        device_type: the type of device; default None, CUDA

    Example:
        >>> import torch_py.utils.checkpoint
        >>> torch.utils.checkpoint.set_device_states([], [])
    """
    count = int(_C._cuda_getDeviceCount()) if devices else 0
    missing = [device for device in devices if device >= count]
    if missing:
        raise RuntimeError(f"set_device_states: there are {count} CUDA devices, got states for {missing}")

    for device, state in zip(devices, states):
        _C._cuda_defaultGenerator(device).set_state(state)


class _Surroundings:
    """The global state that a second run must see: random numbers and autocast."""

    def __init__(self, preserve_rng_state: bool, *arguments: Any) -> None:
        self.random_state = random.get_rng_state() if preserve_rng_state else None
        self.devices, self.device_states = get_device_states(*arguments) if preserve_rng_state else ([], [])
        self.casts = _autocast_settings()

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            if self.random_state is not None:
                stack.enter_context(random.fork_rng(devices=self.devices))
                random.set_rng_state(self.random_state)
                set_device_states(self.devices, self.device_states)
            for kind, settings in self.casts.items():
                stack.enter_context(autocast(kind, **settings))
            yield


def _autocast_settings() -> dict[str, dict[str, Any]]:
    """The arguments of autocast, by device type; that of CUDA only if it is enabled."""
    if not hasattr(_C, "is_autocast_enabled"):
        return {}
    kinds = ("cpu", "cuda") if _C.is_autocast_enabled("cuda") else ("cpu",)
    return {
        kind: {
            "enabled": _C.is_autocast_enabled(kind),
            "dtype": _C.get_autocast_dtype(kind),
            "cache_enabled": _C.is_autocast_cache_enabled(),
        }
        for kind in kinds
    }


# -- Without reentrance ------------------------------------------------------------


class _Placeholder:
    """Replaces one saved tensor; `position` is its number within the frame."""

    __slots__ = ("__weakref__", "position", "value")

    def __init__(self, position: int) -> None:
        self.position = position
        self.value: Tensor | None = None


class _Enough(Exception):
    """Ends a second run early: backward needs nothing more of it."""


class _SaveInputs(Function):
    """A node that saves the tensors among the arguments, as any operator
    does, so that an outer checkpoint can replace them."""

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:
        ctx.save_for_backward(*tensors)
        return _C._torch.empty(0)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise AssertionError("nothing depends on this node")


class _Frame:
    """One call of a checkpointed function: its inputs, and the placeholders for what it saved."""

    def __init__(
        self,
        function: Any,
        args: Any,
        kwargs: Any,
        context: Any,
        surroundings: _Surroundings,
        early_stop: bool,
        check: bool,
    ) -> None:
        self.function = function
        self.context = context
        self.surroundings = surroundings
        self.early_stop = early_stop if _early_stop_everywhere is None else _early_stop_everywhere
        self.check = check

        self.placeholders: list[weakref.ref[_Placeholder]] = []
        self.described: list[tuple[Any, ...]] = []
        self.complete = False
        self._keep_inputs(args, kwargs)

    def _keep_inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        values = [*args, *kwargs.values()]
        self.names = list(kwargs)
        self.count = len(args)
        self.places = [place for place, value in enumerate(values) if isinstance(value, Tensor)]
        self.others = [None if isinstance(value, Tensor) else value for value in values]
        tensors = [values[place] for place in self.places]

        # The gate requires grad, so there is a node even if no argument requires grad; parameters that the
        # function uses may.
        with enable_grad():
            gate = _C._torch.empty((0,), requires_grad=True)
            self.kept = _SaveInputs.apply(gate, *tensors)  # which keeps the node alive

    def _inputs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        values = list(self.others)
        for place, tensor in zip(self.places, self.kept.grad_fn.saved_tensors[1:]):
            values[place] = tensor.detach().requires_grad_(tensor.requires_grad)
        return tuple(values[: self.count]), dict(zip(self.names, values[self.count :]))

    # The first run

    def pack(self, tensor: Tensor) -> _Placeholder:
        placeholder = _Placeholder(len(self.placeholders))
        self.placeholders.append(weakref.ref(placeholder))
        self.described.append(_description(tensor))
        return placeholder

    def unpack(self, placeholder: _Placeholder) -> Tensor:
        if placeholder.value is None:
            self._run_again()
        value = placeholder.value
        placeholder.value = None

        if value is None:
            raise CheckpointError(
                "torch.utils.checkpoint: trying to backward a function whose second run did not save as "
                "many tensors as the first"
            )
        return value

    # The second run

    def _run_again(self) -> None:
        args, kwargs = self._inputs()
        saved: list[tuple[Any, ...]] = []
        wanted = [reference() for reference in self.placeholders]
        last = max((each.position for each in wanted if each is not None), default=-1)

        def keep(tensor: Tensor) -> Tensor:
            # Fills the placeholders that still exist, in the order in which they were saved.
            position = len(saved)
            saved.append(_description(tensor))
            placeholder = wanted[position] if position < len(wanted) else None
            if placeholder is not None:
                placeholder.value = tensor.detach()
            if self.early_stop and position >= last:
                raise _Enough
            return tensor.detach()

        with (
            self.surroundings.restored(),
            self.context,
            saved_tensors_hooks(keep, lambda kept: kept),
            enable_grad(),
        ):
            with contextlib.suppress(_Enough):
                self.function(*args, **kwargs)

        self._compare(saved)

    def _compare(self, saved: list[tuple[Any, ...]]) -> None:
        """Raises CheckpointError if the two runs saved different tensors."""
        stopped = self.early_stop and len(saved) <= len(self.described)
        alive = [reference() for reference in self.placeholders]
        needed = max((each.position + 1 for each in alive if each is not None), default=0)

        if len(saved) < needed or (not stopped and len(saved) != len(self.described)):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original "
                "forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self.described)}\nNumber of tensors saved "
                f"during recomputation: {len(saved)}."
            )

        if not self.check:
            return

        different = [number for number, (one, other) in enumerate(zip(self.described, saved)) if one != other]
        if different:
            lines = "".join(
                f"tensor at position {number}:\nsaved metadata: {_shown(self.described[number])}\n"
                f"recomputed metadata: {_shown(saved[number])}\n"
                for number in different
            )
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different "
                f"metadata than during the forward pass.\n{lines}"
            )


def _description(tensor: Tensor) -> tuple[Any, ...]:
    return tensor.shape, tensor.dtype, tensor.device


def _shown(description: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(("shape", "dtype", "device"), description))


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

    first, second = context_fn()
    if not _C.is_grad_enabled():
        return function(*args, **kwargs)

    # Inside vmap and jvp, operators do not save tensors that could be replaced: run the function once.
    if any(map(_C._level_of, (*args, *kwargs.values()))):
        with first:
            return function(*args, **kwargs)

    frame = _Frame(
        function,
        args,
        kwargs,
        second,
        _Surroundings(preserve_rng_state, *args, *kwargs.values()),
        early_stop,
        determinism_check == "default",
    )
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        return function(*args, **kwargs)


# -- With reentrance ------------------------------------------------------------


class CheckpointFunction(Function):
    """A function as one node of the graph. Its backward runs the function again, then a backward of that.

    Example:
        >>> import torch_py.utils.checkpoint
        >>> issubclass(torch.utils.checkpoint.CheckpointFunction, torch.autograd.Function)
        True
    """

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = _Surroundings(preserve_rng_state, *args)
        ctx.places = [place for place, value in enumerate(args) if isinstance(value, Tensor)]
        ctx.others = [None if isinstance(value, Tensor) else value for value in args]
        ctx.save_for_backward(*(args[place] for place in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        if not _C._is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an "
                "`inputs` parameter to .backward(). To resolve this error, you can either set "
                "use_reentrant=False, or call .backward() without passing the `inputs` argument."
            )

        inputs = list(ctx.others)
        for place, tensor in zip(ctx.places, ctx.saved_tensors):
            inputs[place] = tensor

        detached = detach_variable(tuple(inputs))
        with ctx.surroundings.restored(), enable_grad():
            outputs = ctx.run_function(*detached)

        results = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [
            (result, grad)
            for result, grad in zip(results, gradients)
            if isinstance(result, Tensor) and result.requires_grad
        ]

        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")

        _backward([result for result, _ in pairs], [grad for _, grad in pairs])
        return (None, None, *(value.grad if isinstance(value, Tensor) else None for value in detached))


# -- Public functions ------------------------------------------------------------


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
    """Computes ``function(*args, **kwargs)`` without keeping intermediate results for backward, which
    computes them again when it needs them.

    Args:
        function: the function to run; the second run must do the same as the first
        use_reentrant: False is recommended and supports everything: keywords, `torch.autograd.grad`, inputs
            that do not require grad, nesting, stopping early. True, or leaving it out (which warns), chooses
            the older way
        preserve_rng_state (in `kwargs`, default True): the second run draws the same random numbers
        context_fn: returns two context managers, for the first and the second run; only without reentrance
        determinism_check: 'default' compares shapes, dtypes and devices of the tensors that both runs saved;
            'none' does not
        early_stop: ends the second run at the last tensor that backward needs
        args, kwargs: its arguments
        debug: has no effect: errors always say which tensors differ; default False

    Raises:
        CheckpointError: in backward, if the two runs differ.
        ValueError: for options that exclude one another.

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
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


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


__getattr__ = _lacking(__name__)
