"""`jvp`, Jacobians and Hessians of functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.forward_mode import dual
from torch_py._functorch.levels import inside, is_at, new_level
from torch_py._functorch.mapping import vmap
from torch_py._functorch.reverse_mode import argument_numbers, split_aux, vjp
from torch_py._tensor import Tensor
from torch_py.utils._pytree import tree_flatten, tree_leaves, tree_map

torch: Any = _C._torch


def _check_pushed(result: Any, level: int, strict: bool) -> None:
    """Raises RuntimeError unless `result` has tensors only, which with `strict` depend on the primals."""
    for leaf in tree_leaves(result):
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"jvp(f, primals, tangents): Expected f to return only tensors, got type {type(leaf)}"
            )
        if strict and not is_at(leaf, level):
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. "
                "This is not allowed with strict=True."
            )


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> tuple[Any, ...]:
    """`func(*primals)` and its derivative in the direction `tangents`, by forward mode.

    Both are tuples of trees of tensors of the same structure and shapes; raises RuntimeError otherwise. With
    `has_aux`, `func` returns `(result, aux)` and a third value is `aux`. Results that do not depend on the
    primals have zero tangents, with `strict` RuntimeError.

    Args:
        func: a function of tensors, or trees of them
        primals: the point, a tuple
        tangents: the direction, a tuple
        strict: whether results that do not depend on the point are an error; default False
        has_aux: whether `func` returns something else too; default False

    Example:
        >>> torch.func.jvp(torch.sin, (torch.tensor(0.0),), (torch.tensor(2.0),))
        (tensor(0.), tensor(2.))
    """
    if (
        not isinstance(primals, tuple)
        or not isinstance(tangents, tuple)
        or len(primals) != len(tangents)
        or not primals
    ):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to be non-empty tuples of the same "
            "length"
        )

    leaves, spec = tree_flatten(primals)
    directions, tangent_spec = tree_flatten(tangents)
    if spec != tangent_spec:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure"
        )

    with new_level() as level:
        result = func(*spec.unflatten(dual(p, t, level) for p, t in zip(leaves, directions)))
        result, aux = split_aux(result, "jvp(f, primals, tangents)") if has_aux else (result, None)
        _check_pushed(result, level, strict)

        value = tree_map(lambda leaf: primal_of(leaf, level), result)
        tangent = tree_map(lambda leaf: tangent_of(leaf, level), result)
        return (
            (value, tangent, tree_map(lambda leaf: primal_of(leaf, level), aux))
            if has_aux
            else (value, tangent)
        )


def primal_of(leaf: Any, level: int) -> Any:
    return inside(leaf) if is_at(leaf, level) else leaf


def tangent_of(leaf: Tensor, level: int) -> Tensor:
    tangent = _C._tangent(leaf) if is_at(leaf, level) else None
    return torch.zeros_like(primal_of(leaf, level)) if tangent is None else tangent


def _basis(leaves: list[Tensor]) -> list[Tensor]:
    """A batch of directions for each leaf: one direction for every element of all leaves, in order."""
    total = sum(leaf.numel() for leaf in leaves)
    found = []
    start = 0
    for leaf in leaves:
        rows = torch.zeros(total, leaf.numel(), dtype=leaf.dtype, device=leaf.device)
        rows[start : start + leaf.numel()] = torch.eye(leaf.numel(), dtype=leaf.dtype, device=leaf.device)
        found.append(rows.reshape((total, *leaf.shape)))
        start += leaf.numel()
    return found


def _by_leaf(rows: Tensor, leaves: list[Tensor]) -> list[Tensor]:
    """Cuts rows (total, *shape) into one piece for each leaf."""
    pieces = torch.split(rows, [leaf.numel() for leaf in leaves])
    return [piece.reshape((*leaf.shape, *rows.shape[1:])) for piece, leaf in zip(pieces, leaves)]


def jacrev(
    func: Callable[..., Any],
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func` by reverse mode: one backward pass over a batch of all
    cotangents.

    Its shape is (*shape of the output, *shape of the input); trees of outputs hold trees of inputs. `argnums`
    names the inputs.

    Args:
        func: a function of tensors, or trees of them
        argnums: with respect to which arguments: a number or a tuple; default 0
        has_aux: whether `func` returns something else too; default False
        chunk_size: how many rows to compute at once; default None, all
        _preallocate_and_copy: whether chunks are written to memory for all rows; default False

    Example:
        >>> torch.func.jacrev(torch.sin)(torch.zeros(2))
        tensor([[1., 0.],
                [0., 1.]])
    """

    def transformed(*args: Any, **kwargs: Any) -> Any:
        numbers = argument_numbers(argnums, len(args), "jacrev")
        chosen = tuple(args[n] for n in numbers)

        of_chosen = _of_arguments(func, numbers, args, kwargs)
        result = vjp(of_chosen, *chosen, has_aux=has_aux)
        output, product = result[:2]
        outputs, output_spec = tree_flatten(output)
        products = vmap(lambda *weights: product(output_spec.unflatten(weights)), chunk_size=chunk_size)
        gradients, input_spec = tree_flatten(products(*_basis(outputs)))
        columns = [_by_leaf(g, outputs) for g in gradients]
        jacobian = output_spec.unflatten(
            _chosen(input_spec.unflatten(column[i] for column in columns), argnums)
            for i in range(len(outputs))
        )
        return (jacobian, result[2]) if has_aux else jacobian

    return transformed


def _of_arguments(
    func: Callable[..., Any], numbers: Sequence[int], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Callable[..., Any]:
    """`func` as a function of the arguments with these numbers; the others stay as they are."""

    def of_chosen(*values: Any) -> Any:
        full = list(args)
        for number, value in zip(numbers, values):
            full[number] = value
        return func(*full, **kwargs)

    return of_chosen


def _chosen(by_argument: Any, argnums: Any) -> Any:
    return by_argument[0] if isinstance(argnums, int) else tuple(by_argument)


def jacfwd(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func` by forward mode: one pass over a batch of all
    directions. See `jacrev`.

    Args:
        func: a function of tensors, or trees of them
        argnums: with respect to which arguments: a number or a tuple; default 0
        has_aux: whether `func` returns something else too; default False
        randomness: 'error' (default), 'same' or 'different' for random operators in the batch

    Example:
        >>> torch.func.jacfwd(torch.sin)(torch.zeros(2))
        tensor([[1., 0.],
                [0., 1.]])
    """

    def transformed(*args: Any, **kwargs: Any) -> Any:
        numbers = argument_numbers(argnums, len(args), "jacfwd")
        leaves, spec = tree_flatten(tuple(args[n] for n in numbers))

        of_chosen = _of_arguments(func, numbers, args, kwargs)

        def of_leaves(*values: Any) -> Any:
            return of_chosen(*spec.unflatten(values))

        def pushed(*directions: Tensor) -> Any:
            found = jvp(of_leaves, tuple(leaves), directions, has_aux=has_aux)
            return found[1:] if has_aux else (found[1],)

        moved, *aux = vmap(pushed, randomness=randomness)(*_basis(leaves))
        outputs, output_spec = tree_flatten(moved)
        rows = [
            [
                piece.movedim(tuple(range(leaf.dim())), tuple(range(-leaf.dim(), 0))) if leaf.dim() else piece
                for piece, leaf in zip(_by_leaf(output, leaves), leaves)
            ]
            for output in outputs
        ]
        jacobian = output_spec.unflatten(_chosen(spec.unflatten(row), argnums) for row in rows)
        return (jacobian, tree_map(lambda leaf: leaf[0], aux[0])) if has_aux else jacobian

    return transformed


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """A function that returns the second derivatives of `func`, forward over reverse.

    Args:
        func: a function that returns one element
        argnums: with respect to which arguments: a number or a tuple; default 0

    Example:
        >>> torch.func.hessian(lambda x: (x**3).sum())(torch.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """`func(*primals)` and a function from tangents to the derivative in their direction.

    Args:
        func: a function of tensors, or trees of them
        primals: the point

    Example:
        >>> value, derivative = torch.func.linearize(torch.sin, torch.tensor(0.0))
        >>> derivative(torch.tensor(2.0))
        tensor(2.)
    """

    def pushed(*tangents: Any) -> Any:
        return jvp(func, primals, tangents)[1]

    return func(*primals), pushed
