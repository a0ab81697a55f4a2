"""Automatic differentiation: gradients, functions with their own derivatives, and checks of derivatives."""

from __future__ import annotations

import importlib as _importlib
import warnings as _warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.autograd.function import Function
from torch_py.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from torch_py.autograd.grad_mode import is_multithreading_enabled as is_multithreading_enabled
from torch_py.autograd.grad_mode import set_multithreading_enabled as set_multithreading_enabled
from torch_py.autograd.graph import GradientEdge, get_gradient_edge
from torch_py.overrides import handle_torch_function as _handle_torch_function

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]

_LAZY = {"gradcheck": "gradcheck", "gradgradcheck": "gradcheck", "GradcheckError": "gradcheck"}
_LAZY_MODULES = ("forward_ad", "functional", "graph", "grad_mode", "function", "profiler")


def _is_checkpoint_valid() -> bool:
    """Returns False while a backward pass computes only the gradients of given inputs, else True."""
    return _C._is_checkpoint_valid()


def _as_tuple(value: Any) -> tuple[Any, ...]:
    """Returns the items of an iterable such as `module.parameters()`; any other value as a tuple of one.

    Tensors, edges and strings count as single values.
    """
    if isinstance(value, (Tensor, GradientEdge, str)) or not isinstance(value, Iterable):
        return (value,)
    return tuple(value)


def _checked_sources(values: tuple[Any, ...], caller: str) -> tuple[Any, ...]:
    """Returns `values`, with respect to which `caller` differentiates.

    Raises RuntimeError unless all are tensors or gradient edges.
    """
    for value in values:
        if not isinstance(value, (Tensor, GradientEdge)):
            raise RuntimeError(
                f"{caller}: all inputs have to be Tensors or GradientEdges, but got {type(value).__name__}"
            )
    return values


def _as_edges(values: Iterable[Tensor | GradientEdge]) -> tuple[GradientEdge, ...]:
    """Replaces each tensor by its gradient edge."""
    return tuple(value if isinstance(value, GradientEdge) else get_gradient_edge(value) for value in values)


def _run_engine(
    outputs: Any,
    gradients: Any,
    keep: bool,
    create_graph: bool,
    sources: Any,
    allow_unused: bool,
    accumulate: bool,
) -> Any:
    """Runs the backward engine on tensors and edges; with `accumulate` the gradients go to `.grad`."""
    mode = next((value.fake_mode for value in outputs if hasattr(type(value), "fake_mode")), None)
    if mode is not None and not mode._is_entered():
        # What the engine allocates is fake, too.
        with mode:
            return _run_engine(outputs, gradients, keep, create_graph, sources, allow_unused, accumulate)

    if not any(isinstance(value, GradientEdge) for value in (*outputs, *sources)):
        return _C._run_backward(outputs, gradients, keep, create_graph, sources, allow_unused, accumulate)

    # If one is an edge, the engine takes edges for all; non-leaf inputs retain their gradients.
    for source in sources:
        if accumulate and isinstance(source, Tensor) and not source.is_leaf:
            source.retain_grad()

    roots = _as_edges(outputs)
    ends = _as_edges(sources)
    return _C._run_backward_of_edges(roots, gradients, keep, create_graph, ends, allow_unused, accumulate)


def _checked_gradients(outputs: tuple[Tensor, ...], gradients: Any, caller: str) -> tuple[Tensor | None, ...]:
    """Returns one gradient per output; None where the engine starts with a gradient of 1.

    Raises RuntimeError if the number of gradients, a shape or a dtype does not match the outputs.
    """
    given = (None,) * len(outputs) if gradients is None else _as_tuple(gradients)
    if len(given) != len(outputs):
        raise RuntimeError(f"{caller}: got {len(outputs)} tensors and {len(given)} gradients")

    for position, (output, gradient) in enumerate(zip(outputs, given)):
        if not isinstance(output, (Tensor, GradientEdge)):
            raise AssertionError(
                f"{caller}: expected output to be a Tensor or a GradientEdge, got {type(output).__name__}"
            )

        _check_is_gradient(gradient, caller)
        if isinstance(output, GradientEdge):
            continue  # the engine checks the shape
        if gradient is None:
            _check_implicit_gradient(output, caller)
        elif tuple(gradient.shape) != tuple(output.shape):
            raise RuntimeError(
                f"{caller}: Mismatch in shape: grad_output[{position}] has a shape of {gradient.shape} "
                f"and output[{position}] has a shape of {output.shape}."
            )
        elif gradient.is_complex() != output.is_complex():
            raise RuntimeError(
                f"{caller}: expected gradient and output to be both real or both complex, got "
                f"grad_output[{position}] of dtype {gradient.dtype} and "
                f"output[{position}] of dtype {output.dtype}"
            )

    return given


def _check_is_gradient(gradient: Any, caller: str) -> None:
    if gradient is not None and not isinstance(gradient, Tensor):
        raise TypeError(f"{caller}: gradients can be either Tensors or None, got {type(gradient).__name__}")


def _check_implicit_gradient(output: Tensor, caller: str) -> None:
    """Raises RuntimeError unless backward from `output` may start with a gradient of 1."""
    if not output.requires_grad:
        return  # the engine raises the better error

    if output.numel() != 1:
        raise RuntimeError(
            f"{caller}: grad can be implicitly created only for scalar outputs, "
            f"got an output of shape {tuple(output.shape)}"
        )
    if not output.is_floating_point():
        raise RuntimeError(
            f"{caller}: grad can be implicitly created only for real scalar outputs but got {output.dtype}"
        )


def backward(
    tensors: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Tensor | GradientEdge | Iterable[Tensor | GradientEdge] | None = None,
) -> None:
    """Computes the gradients of `tensors`, weighted by `grad_tensors`, and adds them to `.grad` of leaves.

    With `inputs`, only the gradients of these are computed. `grad_tensors` has one gradient per tensor, of
    the same shape; None is allowed for tensors of one element. `grad_variables` is its older name. Raises
    RuntimeError if shapes differ, a gradient is missing, `inputs` is empty, or nothing requires grad.

    Args:
        tensors: the tensors to differentiate, one or several; or gradient edges
        grad_tensors: the weight of each, of its shape; default None, for tensors of one element
        retain_graph: whether the graph is kept for another pass; default None, as `create_graph`
        create_graph: whether the pass itself is recorded, for higher derivatives; default False
        grad_variables: the former name of `grad_tensors`
        inputs: the leaves to compute gradients of; default None, all

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> torch.autograd.backward((x**2).sum())
        >>> x.grad
        tensor([2., 4.])
    """
    if grad_variables is not None:
        _warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
                "Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables

    outputs = _as_tuple(tensors)
    gradients = _checked_gradients(outputs, grad_tensors, "backward")
    wanted = () if inputs is None else _checked_sources(_as_tuple(inputs), "backward")
    if inputs is not None and not wanted:
        raise RuntimeError("backward: 'inputs' argument to backward cannot be empty.")

    keep = create_graph if retain_graph is None else retain_graph
    if outputs:
        _run_engine(outputs, gradients, keep, create_graph, wanted, allow_unused=True, accumulate=True)


def grad(
    outputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    inputs: Tensor | GradientEdge | Iterable[Tensor | GradientEdge],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Returns the gradients of `outputs`, weighted by `grad_outputs` and summed, with respect to `inputs`.

    It does not change `.grad`. An input that the outputs do not depend on raises RuntimeError; with
    `allow_unused` its gradient is None, with `materialize_grads` zeros. With `is_grads_batched` each of
    `grad_outputs` has an additional first dimension, and so has each result. Outputs and inputs may be
    gradient edges (`graph.get_gradient_edge`). `only_inputs` is deprecated and ignored.

    Args:
        outputs: the tensors to differentiate, one or several; or gradient edges
        inputs: with respect to what
        grad_outputs: the weight of each output, of its shape; default None, for outputs of one element
        retain_graph: whether the graph is kept for another pass; default None, as `create_graph`
        create_graph: whether the pass itself is recorded, for higher derivatives; default False
        only_inputs: must be True
        allow_unused: whether inputs that outputs do not depend on give None instead of an error; default
            None, as `materialize_grads`
        is_grads_batched: whether `grad_outputs` have a first dimension of several passes; default False
        materialize_grads: whether inputs that outputs do not depend on give zeros; default False

    Example:
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> torch.autograd.grad(x**2, x)
        (tensor(6.),)
    """
    if not only_inputs:
        _warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
            "gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )

    results = _as_tuple(outputs)
    sources = _checked_sources(_as_tuple(inputs), "grad")
    weights = () if grad_outputs is None else _as_tuple(grad_outputs)

    overridable = (*results, *sources, *weights)
    if _C._has_torch_function(overridable):
        return _handle_torch_function(  # type: ignore[no-any-return]
            grad,
            overridable,
            results,
            sources,
            grad_outputs=weights or None,
            retain_graph=retain_graph,
            create_graph=create_graph,
            only_inputs=only_inputs,
            allow_unused=allow_unused,
            is_grads_batched=is_grads_batched,
            materialize_grads=materialize_grads,
        )

    if _C._current_level() and any(map(_C._level_of, overridable)):
        return _grad_in_transform(
            results, sources, weights or None, create_graph, allow_unused, is_grads_batched, materialize_grads
        )
    return _plain_grad(
        results,
        sources,
        weights or None,
        retain_graph,
        create_graph,
        allow_unused,
        is_grads_batched,
        materialize_grads,
    )


def _grad_in_transform(*arguments: Any) -> tuple[Any, ...]:
    """`grad` of tensors inside of function transforms, which are made of this module and replace it."""
    raise NotImplementedError


def _plain_grad(
    results: tuple[Any, ...],
    sources: tuple[Any, ...],
    grad_outputs: Sequence[Tensor | None] | None,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool | None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """`grad` by the engine alone."""
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "grad: expected allow_unused to be True or not given when materialize_grads is True, "
            "got allow_unused=False"
        )
    if not sources:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")

    unused = materialize_grads if allow_unused is None else allow_unused
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        return _batched_grad(
            results, sources, grad_outputs or (None,), keep, create_graph, unused, materialize_grads
        )

    gradients = _checked_gradients(results, grad_outputs, "grad")
    found = _run_engine(results, gradients, keep, create_graph, sources, unused, accumulate=False)
    return _materialized(found, sources) if materialize_grads else tuple(found)


def _materialized(found: Sequence[Tensor | None], sources: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Returns the gradients with zeros in place of None."""
    pairs = list(zip(found, sources))
    if any(gradient is None and isinstance(source, GradientEdge) for gradient, source in pairs):
        raise RuntimeError("grad: materialize_grads cannot be used when the given input is a GradientEdge")

    return tuple(_C._torch.zeros_like(source) if gradient is None else gradient for gradient, source in pairs)


def _batched_grad(*arguments: Any) -> tuple[Any, ...]:
    """`grad` with `is_grads_batched`: a function transform, loaded where it is needed."""
    batched_grad = _importlib.import_module("torch_py._functorch.batched_grad").batched_grad
    return batched_grad(*arguments)  # type: ignore[no-any-return]


class set_detect_anomaly:
    """Sets whether errors in backward show the forward call that caused them.

    With `check_nan` NaN in a gradient is an error, too. The setting takes effect at once; a context manager
    restores the previous one at the end.

    Args:
        mode: whether errors in backward show the forward call
        check_nan: whether NaN in a gradient is an error; default True

    Example:
        >>> with torch.autograd.set_detect_anomaly(True):
        ...     torch.is_anomaly_enabled()
        True
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = (_C.is_anomaly_enabled(), _C.is_anomaly_check_nan_enabled())
        _C.set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        _C.set_anomaly_enabled(*self._before)


class detect_anomaly(set_detect_anomaly):
    """`set_detect_anomaly(True)` for a block, with a warning that it is slow.

    Args:
        check_nan: whether NaN in a gradient is an error; default True

    Example:
        >>> x = torch.tensor(-1.0, requires_grad=True)
        >>> with torch.autograd.detect_anomaly():
        ...     x.square().backward()
        >>> x.grad
        tensor(-2.)
    """

    def __init__(self, check_nan: bool = True) -> None:
        _warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
            "enabled for debugging.",
            stacklevel=2,
        )
        super().__init__(True, check_nan)


_absent = _lacking(__name__, __path__)


def __getattr__(name: str) -> Any:
    if name == "Variable":
        return _variable
    if name == "ProfilerActivity":
        return _importlib.import_module("torch_py.profiler").ProfilerActivity
    if name in _LAZY:
        # `gradcheck` is a module and the function in it; the name means the function.
        value = getattr(_importlib.import_module(f"torch_py.autograd._{_LAZY[name]}"), name)
        globals()[name] = value
        return value
    if name in _LAZY_MODULES:
        return _importlib.import_module(f"torch_py.autograd.{name}")
    return _absent(name)


def _variable(data: Tensor, requires_grad: bool = False, volatile: bool | None = None) -> Tensor:
    """The old way to make a tensor that requires grad: `Variable(data, requires_grad=True)`.

    Args:
        data: the tensor
        requires_grad: whether operations on it are recorded; default False
        volatile: has no effect

    Example:
        >>> torch.autograd.Variable(torch.ones(1), requires_grad=True).requires_grad
        True
    """
    return data.detach().requires_grad_() if requires_grad else data


if TYPE_CHECKING:
    from torch_py.autograd import functional, graph
    from torch_py.autograd._gradcheck import GradcheckError, gradcheck, gradgradcheck
