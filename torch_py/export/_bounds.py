"""Checks an exported program for the smallest sizes, where programs tend to be special."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import torch_py
from torch_py._shapes.formulas import Symbol
from torch_py._tensor import Tensor
from torch_py.export._capture import Capture
from torch_py.export._errors import ExportError
from torch_py.export._examples import (
    Dimensions,
    leaves_of_sizes,
    sizes_to_record,
    with_other_values,
)
from torch_py.export._recording import call_on_copies
from torch_py.export.exported_program import ExportedProgram
from torch_py.export.graph_signature import OutputKind
from torch_py.utils._pytree import tree_leaves

_FARTHEST = 20  # from the example


def find_lower_bounds(program: ExportedProgram, capture: Capture, dimensions: Dimensions) -> None:
    """Raises the minimum of each dimension to the smallest size for which the graph and the module agree.

    Sizes of 0 and 1 are often special, and others are not: where a named dimension allows a size of 2 or more
    for which they differ, ExportError asks for a range. They must also agree for larger sizes.
    """
    if not dimensions.rows:
        return
    _check_unseen_sizes(program, capture, dimensions)
    sizes = sizes_to_record(dimensions)[0]
    for symbol in dimensions.symbols:
        for small in _smaller_sizes(symbol, dimensions.example[symbol]):
            verdict = _holds(program, capture, dimensions, {**sizes, symbol: small})
            if verdict is True:
                continue

            if verdict is False and small > 1 and symbol not in dimensions.nameless:
                raise ExportError(
                    f"Constraints violated ({symbol})! For {symbol} = {small} the program computes something "
                    f"else than for larger sizes. Give the Dim a range without it: min={small + 1}."
                )
            symbol.min = small + 1
            break


def _smaller_sizes(symbol: Symbol, example: int) -> list[int]:
    """Sizes below the example, the largest first."""
    chosen = range(1, example) if example <= 8 else (1, 2, 3, example // 2, 3 * example // 4)
    return sorted(filter(symbol.allows, {1, 2, 3, *chosen}), reverse=True)


def _check_unseen_sizes(program: ExportedProgram, capture: Capture, dimensions: Dimensions) -> None:
    """Raises ExportError if the graph does not hold for sizes that it was not made from."""
    choice = random.Random(0)
    sizes = {}
    for symbol, example in dimensions.example.items():
        above = [size for size in range(example, max(example, 4) + _FARTHEST) if symbol.allows(size)]
        sizes[symbol] = choice.choice(above)

    if _holds(program, capture, dimensions, sizes) is False:
        shown = ", ".join(f"{symbol} = {size}" for symbol, size in sizes.items())
        symbols = ", ".join(map(str, sizes))
        raise ExportError(
            f"Constraints violated ({symbols})! For {shown} the program computes something else than for "
            "other sizes. Leave the dimension static, or give it a range in which the program is the same."
        )


def _holds(
    program: ExportedProgram, capture: Capture, dimensions: Dimensions, sizes: dict[Symbol, int]
) -> bool | None:
    """Whether graph and module agree for some sizes; None if the module raises an error."""
    leaves = leaves_of_sizes(capture.leaves, dimensions, sizes)
    verdict = _agree(program, capture, leaves)
    if verdict is not True or capture.meet is not None:
        return verdict
    # Other values too, unless the module refuses them: those of examples are often all the same.
    return _agree(program, capture, with_other_values(leaves, seed=0)) is not False


def _agree(program: ExportedProgram, capture: Capture, leaves: list[Any]) -> bool | None:
    """Whether graph and module give the same results; None if the module raises an error."""
    with torch_py.random.fork_rng(devices=[]), torch_py.no_grad():
        state = torch_py.get_rng_state()
        try:
            expected = tree_leaves(call_on_copies(capture.module, leaves, capture.in_spec))
        except Exception:  # of the program: it does not allow this size
            return None

        torch_py.set_rng_state(state)
        try:
            found = list(_results(program, leaves))
        except Exception:  # of operators, for a graph that does not hold
            return False
    return len(expected) == len(found) and all(map(_equal, expected, found))


def _results(program: ExportedProgram, leaves: list[Any]) -> Iterator[Any]:
    """What the graph gives for the user, without changing the state of the program."""
    tensors = {**program.constants, **program.state_dict}
    signature = program.graph_signature
    state = [tensors[spec.target] for spec in signature.input_specs if spec.target is not None]
    outputs = program.graph_module(*state, *leaves)
    for spec, value in zip(signature.output_specs, outputs):
        if spec.kind is OutputKind.USER_OUTPUT:
            yield value


def _equal(one: Any, other: Any) -> bool:
    if not isinstance(one, Tensor):
        return bool(type(one) is type(other) and one == other)
    if not isinstance(other, Tensor) or one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not one.dtype.is_floating_point and not one.dtype.is_complex:
        return bool(torch_py.equal(one, other))
    return bool(torch_py.allclose(one, other, rtol=1e-3, atol=1e-5, equal_nan=True))
