"""Recurrent layers: names, shapes, initial values, packed sequences and errors."""

from __future__ import annotations

import pytest

from tests.subject import torch

nn = torch.nn
rnn = torch.nn.utils.rnn


def test_parameters_have_the_names_and_shapes_of_pytorch():
    shapes = {
        name: tuple(p.shape)
        for name, p in nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2).named_parameters()
    }

    assert list(shapes)[:6] == [
        "weight_ih_l0",
        "weight_hh_l0",
        "bias_ih_l0",
        "bias_hh_l0",
        "weight_hr_l0",
        "weight_ih_l0_reverse",
    ]

    assert shapes["weight_ih_l0"] == (16, 3)
    assert shapes["weight_hh_l0"] == (16, 2)
    assert shapes["weight_hr_l0"] == (2, 4)
    assert shapes["weight_ih_l1_reverse"] == (16, 4)

    assert [name for name, _ in nn.GRU(3, 4, bias=False).named_parameters()] == [
        "weight_ih_l0",
        "weight_hh_l0",
    ]

    assert [name for name, _ in nn.GRUCell(3, 4).named_parameters()] == [
        "weight_ih",
        "weight_hh",
        "bias_ih",
        "bias_hh",
    ]


def test_starting_values_are_those_of_pytorch():
    torch.manual_seed(0)
    first = nn.GRU(2, 4).weight_ih_l0[0].tolist()
    assert first == pytest.approx([-0.00374341, 0.2682218], abs=1e-6)
    assert all(bool((p.abs() <= 0.5).all()) for p in nn.RNN(3, 4, 2).parameters())


@pytest.mark.parametrize("mode", ["RNN", "GRU", "LSTM"])
def test_layers_are_repeated_cells(mode):
    torch.manual_seed(0)
    layer = getattr(nn, mode)(3, 4)
    cell = getattr(nn, mode + "Cell")(3, 4)
    input = torch.randn(5, 2, 3)
    cell.load_state_dict({name.removesuffix("_l0"): value for name, value in layer.state_dict().items()})

    output, last = layer(input)
    state = None
    expected = []
    for step in input:
        state = cell(step, state)
        expected.append(state[0] if mode == "LSTM" else state)

    torch.testing.assert_close(output, torch.stack(expected))
    torch.testing.assert_close(last[0][0] if mode == "LSTM" else last[0], expected[-1])


def test_shapes():
    lstm = nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True)
    output, (hidden, cell) = lstm(torch.randn(5, 7, 3))
    assert tuple(output.shape) == (5, 7, 8) and tuple(hidden.shape) == tuple(cell.shape) == (4, 5, 4)
    output, (hidden, _) = lstm(torch.randn(7, 3))
    assert tuple(output.shape) == (7, 8) and tuple(hidden.shape) == (4, 4)
    output, hidden = nn.GRU(3, 4)(torch.randn(7, 5, 3), torch.randn(1, 5, 4))
    assert tuple(output.shape) == (7, 5, 4) and tuple(hidden.shape) == (1, 5, 4)


@pytest.mark.parametrize("mode", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_packed_sequences_are_sequences_one_by_one(mode, bidirectional):
    torch.manual_seed(0)
    layer = getattr(nn, mode)(3, 4, 2, bidirectional=bidirectional)
    sequences = [torch.randn(length, 3) for length in (2, 5, 3, 1)]
    output, last = layer(rnn.pack_sequence(sequences, enforce_sorted=False))
    hidden = last[0] if mode == "LSTM" else last
    for number, (sequence, found) in enumerate(zip(sequences, rnn.unpack_sequence(output), strict=True)):
        expected, state = layer(sequence)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(hidden[:, number], state[0] if mode == "LSTM" else state)


def test_dropout_acts_between_layers_in_training_only():
    torch.manual_seed(0)
    gru = nn.GRU(3, 8, 2, dropout=0.5)
    input = torch.randn(4, 2, 3)
    assert not torch.equal(gru(input)[0], gru(input)[0])
    gru.eval()
    assert torch.equal(gru(input)[0], gru(input)[0])
    with pytest.warns(UserWarning, match="num_layers"):
        nn.GRU(3, 4, dropout=0.5)


def test_gradients_reach_all_parameters():
    lstm = nn.LSTM(3, 4, 2, bidirectional=True)
    lstm(torch.randn(5, 2, 3))[0].sum().backward()
    assert all(p.grad is not None and bool((p.grad != 0).any()) for p in lstm.parameters())
    lstm.flatten_parameters()
    assert [len(weights) for weights in lstm.all_weights] == [4, 4, 4, 4]


@pytest.mark.parametrize(
    ("make", "call", "error", "message"),
    [
        (lambda: nn.LSTM(3, 4), lambda m: m(torch.randn(5, 2, 2)), RuntimeError, "input_size|input.size"),
        (
            lambda: nn.GRU(3, 4),
            lambda m: m(torch.randn(5, 2, 3), torch.randn(1, 3, 4)),
            RuntimeError,
            "hidden size",
        ),
        (lambda: nn.GRU(3, 4), lambda m: m(torch.randn(5, 2, 3).double()), ValueError, "dtype"),
        (lambda: nn.LSTM(3, 4), lambda m: m(torch.randn(5)), ValueError, "1D"),
        (
            lambda: nn.LSTM(3, 4),
            lambda m: m(torch.randn(2, 3), (torch.randn(1, 2, 4), torch.randn(1, 2, 4))),
            RuntimeError,
            "2-D",
        ),
        (lambda: nn.LSTMCell(3, 4), lambda m: m(torch.randn(1, 2, 3)), ValueError, "3D"),
        (lambda: nn.RNN(3, 0), None, ValueError, "hidden_size"),
        (lambda: nn.RNN(3, 4, nonlinearity="sin"), None, ValueError, "sin"),
        (lambda: nn.GRU(3, 4, proj_size=2), None, ValueError, "proj_size"),
        (lambda: nn.LSTM(3, 4, proj_size=4), None, ValueError, "proj_size"),
    ],
)
def test_errors(make, call, error, message):
    with pytest.raises(error, match=message):
        call(make()) if call else make()


def test_texts():
    assert (
        repr(nn.LSTM(2, 3, 2, proj_size=2, bidirectional=True))
        == "LSTM(2, 3, proj_size=2, num_layers=2, bidirectional=True)"
    )
    assert repr(nn.RNN(2, 3, bias=False, batch_first=True)) == "RNN(2, 3, bias=False, batch_first=True)"
    assert repr(nn.RNNCell(2, 3, nonlinearity="relu")) == "RNNCell(2, 3, nonlinearity=relu)"


# Packed sequences


def test_packing_and_padding():
    padded = torch.tensor([[1, 2, 3], [4, 5, 0], [6, 0, 0]])
    packed = rnn.pack_padded_sequence(padded, [3, 2, 1], batch_first=True)
    assert packed.data.tolist() == [1, 4, 6, 2, 5, 3] and packed.batch_sizes.tolist() == [3, 2, 1]
    back, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1, total_length=4)
    assert back.tolist() == [[1, 2, 3, -1], [4, 5, -1, -1], [6, -1, -1, -1]] and lengths.tolist() == [3, 2, 1]
    unsorted = rnn.pack_sequence([torch.tensor([1]), torch.tensor([2, 3])], enforce_sorted=False)
    assert unsorted.data.tolist() == [2, 1, 3] and unsorted.sorted_indices.tolist() == [1, 0]
    assert [x.tolist() for x in rnn.unpack_sequence(unsorted)] == [[1], [2, 3]]
    assert unsorted.double().data.dtype == torch.float64


def test_pad_sequence():
    sequences = [torch.tensor([1, 2]), torch.tensor([3])]
    assert rnn.pad_sequence(sequences).tolist() == [[1, 3], [2, 0]]
    assert rnn.pad_sequence(sequences, batch_first=True, padding_value=9, padding_side="left").tolist() == [
        [1, 2],
        [9, 3],
    ]
    unpadded = rnn.unpad_sequence(rnn.pad_sequence(sequences), torch.tensor([2, 1]))
    assert [x.tolist() for x in unpadded] == [[1, 2], [3]]


@pytest.mark.parametrize(
    ("lengths", "message"), [([1, 2], "sorted"), ([2, 0], "greater than 0"), ([2], "batch_size")]
)
def test_wrong_lengths(lengths, message):
    with pytest.raises(RuntimeError, match=message):
        rnn.pack_padded_sequence(torch.zeros(2, 2, 3), lengths)


def packed_lstm_inputs():
    torch.manual_seed(0)
    layer = nn.LSTM(2, 3, 2, bidirectional=True).double()
    data = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    state = [torch.randn(4, 3, 3, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    return layer, data, state


@pytest.mark.parametrize("packed", [False, True])
def test_lstm_has_first_and_second_derivatives(packed):
    """First and second derivatives of all inputs and outputs, for sequences of different lengths."""
    layer, data, state = packed_lstm_inputs()

    def run(data, hidden, cell, *parameters):
        sequence = rnn.PackedSequence(data, torch.tensor([3, 2, 1])) if packed else data.view(2, 3, 2)
        named = dict(zip((name for name, _ in layer.named_parameters()), parameters))
        output, (hidden, cell) = torch.func.functional_call(layer, named, (sequence, (hidden, cell)))
        return output.data if packed else output, hidden, cell

    inputs = (data, *state, *layer.parameters())
    assert torch.autograd.gradcheck(run, inputs, fast_mode=True)
    assert torch.autograd.gradgradcheck(run, inputs, fast_mode=True)


def test_lstm_over_many_rows_and_steps_is_repeated_cells():
    """Enough rows and steps for several threads, and for weight gradients that sum over all steps."""
    torch.manual_seed(0)
    layer = nn.LSTM(33, 65).double()
    cell = nn.LSTMCell(33, 65).double()
    input = torch.randn(9, 70, 33, dtype=torch.float64)
    cell.load_state_dict({name.removesuffix("_l0"): value for name, value in layer.state_dict().items()})

    output, (hidden, last) = layer(input)
    state = None
    expected = []
    for step in input:
        state = cell(step, state)
        expected.append(state[0])

    torch.testing.assert_close(output, torch.stack(expected))
    torch.testing.assert_close(last[0], state[1])

    weight = torch.randn_like(output)
    found = torch.autograd.grad((output * weight).sum() + last.sum(), list(layer.parameters()))
    wanted = torch.autograd.grad(
        (torch.stack(expected) * weight).sum() + state[1].sum(), list(cell.parameters())
    )

    for ours, theirs in zip(found, wanted):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("kind", ["RNNCell", "GRUCell", "LSTMCell"])
def test_cells_without_features(kind: str) -> None:
    states = getattr(nn, kind)(4, 0)(torch.ones(2, 4))
    for state in states if isinstance(states, tuple) else (states,):
        assert tuple(state.shape) == (2, 0)
