"""Samples of recurrent networks and their cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_INPUT = 2
_HIDDEN = 3
_BATCH = 2
_STEPS = 3


def _parameters(
    make: Make, gates: int, layers: int, directions: int, biases: bool, projection: int = 0
) -> list[Any]:
    found = []
    hidden = projection or _HIDDEN

    for layer in range(layers):
        width = _INPUT if layer == 0 else directions * hidden
        for _ in range(directions):
            found += [
                make(gates * _HIDDEN, width, low=-0.5, high=0.5),
                make(gates * _HIDDEN, hidden, low=-0.5, high=0.5),
            ]
            if biases:
                found += [
                    make(gates * _HIDDEN, low=-0.5, high=0.5),
                    make(gates * _HIDDEN, low=-0.5, high=0.5),
                ]
            if projection:
                found.append(make(projection, _HIDDEN, low=-0.5, high=0.5))

    return found


def _settings(make: Make) -> Iterator[tuple[int, bool, bool]]:
    """Numbers of layers, with and without a second direction and biases."""
    yield 1, False, True
    yield 1, True, False
    if not make.requires_grad:
        yield 2, True, True
        yield 2, False, True


@samples("rnn_input", 1)
@samples("gru_input", 3)
def _padded(make: Make, gates: int) -> Iterator[SampleInput]:
    if not make.is_floating:
        return

    for layers, both, biases in _settings(make):
        directions = 2 if both else 1
        hidden = make(layers * directions, _BATCH, _HIDDEN)
        params = _parameters(make, gates, layers, directions, biases)
        yield SampleInput(
            make(_STEPS, _BATCH, _INPUT), hidden, params, biases, layers, 0.0, False, both, False
        )

    hidden = make(1, _BATCH, _HIDDEN)
    params = _parameters(make, gates, 1, 1, True)
    yield SampleInput(make(_BATCH, _STEPS, _INPUT), hidden, params, True, 1, 0.0, True, False, True)


@samples("rnn_data", 1)
@samples("gru_data", 3)
def _packed(make: Make, gates: int) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    for layers, both, biases in _settings(make):
        directions = 2 if both else 1
        hidden = make(layers * directions, 3, _HIDDEN)
        params = _parameters(make, gates, layers, directions, biases)
        yield SampleInput(
            make(6, _INPUT), make.values([3, 2, 1], "int64"), hidden, params, biases, layers, 0.0, False, both
        )


@error_samples("rnn_input")
def rnn_input_errors(make: Make) -> Iterator[ErrorInput]:
    params = _parameters(make, 1, 1, 1, True)
    hidden = make(1, _BATCH, _HIDDEN)
    rest = (True, 1, 0.0, False, False, False)

    yield ErrorInput(
        SampleInput(make(_STEPS, _BATCH, _INPUT), make(1, 5, _HIDDEN), params, *rest), RuntimeError, "hidden"
    )
    yield ErrorInput(
        SampleInput(make(_STEPS, _BATCH, _INPUT), hidden, params[:2], *rest), RuntimeError, "parameters"
    )
    yield ErrorInput(SampleInput(make(0, _BATCH, _INPUT), hidden, params, *rest), RuntimeError, "length")


def _both_states(sample: SampleInput, make: Make) -> SampleInput:
    """The sample with a cell state in addition to the hidden one."""
    values = list(sample.positional)
    at = 1 if values[1].dim() == 3 else 2
    values[at] = [values[at], make(*values[at].shape)]
    return SampleInput(*values)


@samples("lstm_input")
def lstm_input(make: Make) -> Iterator[SampleInput]:
    for sample in _padded(make, 4):
        yield _both_states(sample, make)

    if make.is_floating:
        states = [make(2, _BATCH, 2), make(2, _BATCH, _HIDDEN)]
        yield SampleInput(
            make(_STEPS, _BATCH, _INPUT),
            states,
            _parameters(make, 4, 1, 2, True, 2),
            True,
            1,
            0.0,
            False,
            True,
            False,
        )


@samples("lstm_data")
def lstm_data(make: Make) -> Iterator[SampleInput]:
    for sample in _packed(make, 4):
        yield _both_states(sample, make)


def _cell_arguments(make: Make, gates: int) -> Iterator[tuple[Any, ...]]:
    if not make.is_floating:
        return

    rows = gates * _HIDDEN
    yield (
        make(_BATCH, _INPUT),
        make(_BATCH, _HIDDEN),
        make(rows, _INPUT),
        make(rows, _HIDDEN),
        make(rows),
        make(rows),
    )
    yield make(_BATCH, _INPUT), make(_BATCH, _HIDDEN), make(rows, _INPUT), make(rows, _HIDDEN)


@samples("rnn_cell")
def rnn_cell(make: Make) -> Iterator[SampleInput]:
    for arguments in _cell_arguments(make, 1):
        yield SampleInput(*arguments)


@samples("gru_cell")
def gru_cell(make: Make) -> Iterator[SampleInput]:
    for arguments in _cell_arguments(make, 3):
        yield SampleInput(*arguments)


@samples("lstm_cell")
def lstm_cell(make: Make) -> Iterator[SampleInput]:
    for input, hidden, *rest in _cell_arguments(make, 4):
        yield SampleInput(input, [hidden, make(*hidden.shape)], *rest)
