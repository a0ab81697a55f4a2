"""Jacobians, Hessians and their products with vectors, for functions of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py._C import _torch
from torch_py._functorch.jacobians import jacfwd, jacrev
from torch_py._tensor import Tensor
from torch_py.autograd import grad
from torch_py.autograd.grad_mode import enable_grad
from torch_py.utils._pytree import tree_map

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_Inputs = Tensor | tuple[Tensor, ...]
_Vectors = Tensor | tuple[Tensor, ...] | None


def _inputs(inputs: Any, create_graph: bool, caller: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether `inputs` is a tuple, and the tensors to differentiate by.

    With `create_graph` these are views, so that results depend on the originals.
    """
    is_tuple = isinstance(inputs, tuple)
    given = inputs if is_tuple else (inputs,)
    for position, item in enumerate(given):
        if not isinstance(item, Tensor):
            raise TypeError(
                f"{caller}: expected inputs to be tensors, got {type(item).__name__} at position {position}"
            )

    if create_graph:
        return is_tuple, tuple(
            item.view_as(item) if item.requires_grad else item.detach().requires_grad_() for item in given
        )
    return is_tuple, tuple(item.detach().requires_grad_() for item in given)


def _outputs(outputs: Any, caller: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether `outputs` is a tuple, and the outputs. Raises TypeError unless all are tensors."""
    is_tuple = isinstance(outputs, tuple)
    result = outputs if is_tuple else (outputs,)
    for position, item in enumerate(result):
        if not isinstance(item, Tensor):
            raise TypeError(
                f"{caller}: expected the function to return tensors, got {type(item).__name__} at position "
                f"{position}"
            )
    return is_tuple, result


def _vectors(v: Any, like: tuple[Tensor, ...], caller: str, side: str) -> tuple[Tensor, ...]:
    """The vectors of a product, by default 1 for a single element.

    Raises RuntimeError if the shapes differ.
    """
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"{caller}: the vector v can only be left out when the {side} is a single element"
            )
        return (_torch.ones_like(like[0]),)

    vectors = v if isinstance(v, tuple) else (v,)
    for item in vectors:
        if not isinstance(item, Tensor):
            raise TypeError(
                f"{caller}: the v given must be either a Tensor or a tuple of Tensors, "
                f"got {type(item).__name__}"
            )

    shapes = [tuple(item.shape) for item in vectors]
    expected = [tuple(item.shape) for item in like]
    if shapes != expected:
        raise RuntimeError(f"{caller}: expected v to have the shapes of the {side}, {expected}, got {shapes}")

    return tuple(vectors)


def _gradients(
    outputs: Any, inputs: Any, vectors: Any, create_graph: bool, strict: bool, caller: str
) -> tuple[Tensor, ...]:
    """Like `grad`, but with zeros for independent inputs; `strict` makes these an error."""
    live = [(output, vector) for output, vector in zip(outputs, vectors) if output.requires_grad]
    if strict and len(live) < len(outputs):
        raise RuntimeError(
            f"{caller}: an output of the function is independent of the inputs, which strict=True does not "
            "allow"
        )

    found: tuple[Any, ...] = (None,) * len(inputs)
    if live:
        results = [output for output, _ in live]
        weights = [vector for _, vector in live]
        found = grad(results, inputs, weights, True, create_graph, allow_unused=True)

    if strict and any(item is None for item in found):
        raise RuntimeError(
            f"{caller}: the output is independent of an input, which strict=True does not allow"
        )

    return tuple(_torch.zeros_like(source) if item is None else item for item, source in zip(found, inputs))


def _returned(values: tuple[Tensor, ...], is_tuple: bool, create_graph: bool) -> Any:
    """The results as the caller receives them: detached unless `create_graph`."""
    kept = values if create_graph else tuple(value.detach() for value in values)
    return kept if is_tuple else kept[0]


def vjp(
    func: Callable[..., Any],
    inputs: _Inputs,
    v: _Vectors = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Computes ``(func(*inputs), v · J)``, the gradient of the outputs weighted by `v`.

    `v` has the shapes of the outputs and may be None for a single element.

    Args:
        func: a function of tensors
        inputs: the point, a tensor or a tuple of them
        v: the weights of the outputs; default None, for one element
        create_graph: whether the result can be differentiated; default False
        strict: whether an output that does not depend on an input is an error instead of zeros; default False

    Example:
        >>> torch.autograd.functional.vjp(lambda x: x**2, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0]))
        (tensor([1., 4.]), tensor([2., 4.]))
    """
    with enable_grad():
        is_input_tuple, sources = _inputs(inputs, create_graph, "vjp")
        is_output_tuple, outputs = _outputs(func(*sources), "vjp")
        vectors = _vectors(v, outputs, "vjp", "output")
        products = _gradients(outputs, sources, vectors, create_graph, strict, "vjp")

    value = _returned(outputs, is_output_tuple, create_graph)
    return value, _returned(products, is_input_tuple, create_graph)


def jvp(
    func: Callable[..., Any],
    inputs: _Inputs,
    v: _Vectors = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Computes ``(func(*inputs), J · v)``, the derivative along `v`, which has the shapes of the inputs.

    It is the derivative of a vector-Jacobian product with respect to its vector.

    Args:
        func: a function of tensors
        inputs: the point, a tensor or a tuple of them
        v: the direction, in the shapes of the inputs; default None, for one element
        create_graph: whether the result can be differentiated; default False
        strict: whether an output that does not depend on an input is an error instead of zeros; default False

    Example:
        >>> torch.autograd.functional.jvp(lambda x: x**2, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0]))
        (tensor([1., 4.]), tensor([2., 4.]))
    """
    with enable_grad():
        _, sources = _inputs(inputs, create_graph, "jvp")
        vectors = _vectors(v, sources, "jvp", "input")
        is_tuple, outputs = _outputs(func(*sources), "jvp")
        dummies = tuple(_torch.zeros_like(output).requires_grad_() for output in outputs)
        pulled_back = _gradients(outputs, sources, dummies, True, strict, "jvp")
        products = _gradients(pulled_back, dummies, vectors, create_graph, strict, "jvp")

    return _returned(outputs, is_tuple, create_graph), _returned(products, is_tuple, create_graph)


def _jacobian_of(
    output: Tensor, sources: tuple[Tensor, ...], create_graph: bool, strict: bool
) -> tuple[Tensor, ...]:
    """For each source, a tensor of shape output.shape + source.shape."""
    rows: list[list[Tensor]] = [[] for _ in sources]
    for element in output.reshape(-1).unbind(0):
        vector = (_torch.ones_like(element),)
        found = _gradients((element,), sources, vector, create_graph, strict, "jacobian")
        for row, gradient in zip(rows, found):
            row.append(gradient)

    shapes = [tuple(output.shape) + tuple(source.shape) for source in sources]
    empty = output.new_zeros
    return tuple(_torch.stack(row).view(shape) if row else empty(shape) for row, shape in zip(rows, shapes))


def _check_strategy(strategy: str, create_graph: bool, strict: bool, vectorize: bool) -> None:
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            f'jacobian: expected strategy to be either "forward-mode" or "reverse-mode", got {strategy!r}'
        )

    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported together'
            )
        if strict:
            raise RuntimeError(
                'jacobian: `strict=True` and `strategy="forward-mode"` are not supported together'
            )
        if not vectorize:
            raise NotImplementedError('jacobian: `strategy="forward-mode"` needs `vectorize=True`')

    if vectorize and strict:
        raise RuntimeError("jacobian: `strict=True` and `vectorize=True` are not supported together")


def jacobian(
    func: Callable[..., Any],
    inputs: _Inputs,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Computes the derivatives of all outputs with respect to all inputs, J[i, j] = d output[i] / d input[j].

    The result is a tensor of shape output.shape + input.shape; a tuple of such tensors if `inputs` is a
    tuple; a tuple of those if `func` returns a tuple. Reverse mode runs one backward pass per output element,
    with `vectorize`, too; 'forward-mode' runs `func` once, on a batch of all directions.

    Raises AssertionError for an unknown strategy, NotImplementedError for 'forward-mode' with `create_graph`
    or without `vectorize`, and RuntimeError for `strict` together with 'forward-mode' or `vectorize`.

    Args:
        func: a function of tensors that returns a tensor or a tuple of them
        inputs: the point, a tensor or a tuple of them
        create_graph: whether the result can be differentiated; default False
        strict: whether an output that does not depend on an input is an error instead of zeros; default False
        vectorize: whether all rows are computed in one pass over a batch; default False
        strategy: 'reverse-mode' (default), or 'forward-mode' with `vectorize`

    Example:
        >>> torch.autograd.functional.jacobian(lambda x: x**2, torch.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    _check_strategy(strategy, create_graph, strict, vectorize)
    if strategy == "forward-mode":
        return _forward_jacobian(func, inputs)

    with enable_grad():
        is_input_tuple, sources = _inputs(inputs, create_graph, "jacobian")
        is_output_tuple, outputs = _outputs(func(*sources), "jacobian")
        blocks = tuple(_jacobian_of(output, sources, create_graph, strict) for output in outputs)

    rows = tuple(_returned(block, is_input_tuple, create_graph) for block in blocks)
    return rows if is_output_tuple else rows[0]


def _forward_jacobian(func: Callable[..., Any], inputs: _Inputs) -> Any:
    """The Jacobian by forward mode, without a graph."""
    is_input_tuple, sources = _inputs(inputs, False, "jacobian")

    def checked(*arguments: Tensor) -> Any:
        is_tuple, outputs = _outputs(func(*arguments), "jacobian")
        return outputs if is_tuple else outputs[0]

    chosen = tuple(range(len(sources))) if is_input_tuple else 0
    blocks = jacfwd(checked, chosen)(*(source.detach() for source in sources))
    return tree_map(lambda block: block.detach(), blocks)


def _scalar(func: Callable[..., Any], caller: str) -> Callable[..., Tensor]:
    """`func` with a check that it returns a single element."""

    def checked(*arguments: Tensor) -> Tensor:
        is_tuple, outputs = _outputs(func(*arguments), caller)
        if is_tuple or outputs[0].numel() != 1:
            got = f"{len(outputs)} in a tuple" if is_tuple else f"shape {tuple(outputs[0].shape)}"
            raise RuntimeError(
                f"{caller}: expected the function to return a tensor with a single element, got {got}"
            )
        return outputs[0]

    return checked


def hessian(
    func: Callable[..., Any],
    inputs: _Inputs,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Computes the second derivatives of a function with one output element, H[i, j] = d² output / d input[i]
    d input[j]: a tensor of shape input.shape + input.shape, or a tuple of tuples.

    `vectorize` and `outer_jacobian_strategy` are those of `jacobian`, which is applied to the gradient.

    Args:
        func: a function of tensors that returns one element
        inputs: the point, a tensor or a tuple of them
        create_graph: whether the result can be differentiated; default False
        strict: whether an output that does not depend on an input is an error instead of zeros; default False
        vectorize: whether all rows are computed in one pass over a batch; default False
        outer_jacobian_strategy: 'reverse-mode' (default) or 'forward-mode'

    Example:
        >>> torch.autograd.functional.hessian(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    _check_strategy(outer_jacobian_strategy, create_graph, strict, vectorize)
    scalar = _scalar(func, "hessian")
    is_tuple = isinstance(inputs, tuple)

    if outer_jacobian_strategy == "forward-mode":
        return _forward_jacobian(jacrev(scalar, tuple(range(len(inputs))) if is_tuple else 0), inputs)

    def gradient(*sources: Tensor) -> Any:
        live = tuple(
            source if source.requires_grad else source.detach().requires_grad_() for source in sources
        )
        output = scalar(*live)
        found = _gradients((output,), live, (_torch.ones_like(output),), True, strict, "hessian")
        return found if is_tuple else found[0]

    return jacobian(gradient, inputs, create_graph, strict)


def vhp(
    func: Callable[..., Any],
    inputs: _Inputs,
    v: _Vectors = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Computes ``(func(*inputs), v · H)`` for a function with one output
    element; `v` has the shapes of the inputs.

    Args:
        func: a function of tensors that returns one element
        inputs: the point, a tensor or a tuple of them
        v: a vector in the shapes of the inputs; default None, for one element
        create_graph: whether the result can be differentiated; default False
        strict: whether an output that does not depend on an input is an error instead of zeros; default False

    Example:
        >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), torch.tensor([1.0]), torch.tensor([1.0]))
        (tensor(1.), tensor([6.]))
    """
    with enable_grad():
        is_tuple, sources = _inputs(inputs, create_graph, "vhp")
        vectors = _vectors(v, sources, "vhp", "input")
        output = _scalar(func, "vhp")(*sources)
        gradient = _gradients((output,), sources, (_torch.ones_like(output),), True, strict, "vhp")
        products = _gradients(gradient, sources, vectors, create_graph, strict, "vhp")

    return _returned((output,), False, create_graph), _returned(products, is_tuple, create_graph)


def hvp(
    func: Callable[..., Any],
    inputs: _Inputs,
    v: _Vectors = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Computes ``(func(*inputs), H · v)``; it equals `vhp`, since the
    Hessian is symmetric where it is continuous.

    Args:
        func: a function of tensors that returns one element
        inputs: the point, a tensor or a tuple of them
        v: a vector in the shapes of the inputs; default None, for one element
        create_graph: whether the result can be differentiated; default False
        strict: whether an output that does not depend on an input is an error instead of zeros; default False

    Example:
        >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), torch.tensor([1.0]), torch.tensor([1.0]))
        (tensor(1.), tensor([6.]))
    """
    return vhp(func, inputs, v, create_graph, strict)
