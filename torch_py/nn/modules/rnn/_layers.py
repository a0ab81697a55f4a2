"""Recurrent layers (Elman 1990; Hochreiter & Schmidhuber 1997; Cho et al. 2014)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.nn.modules.rnn._base import RNNBase
from torch_py.types import Device, _dtype

__all__ = ["GRU", "LSTM", "RNN"]


class RNN(RNNBase):
    """Runs a simple recurrent network (Elman network) over sequences:

        h[t] = tanh(W_ih · x[t] + b_ih + W_hh · h[t-1] + b_hh)

    Args:
        input_size: the number of features of the input
        hidden_size: the number of features of the hidden state
        num_layers: the number of layers; each further one reads the outputs of the one before; default 1
        nonlinearity: 'tanh' (default) or 'relu'
        bias: whether there are biases; default True
        batch_first: whether the batch is the first dimension of input and output; default False
        dropout: the probability of dropping outputs between layers in training; default 0.0
        bidirectional: whether a second network reads the sequence backwards; default False
        device, dtype: those of the parameters

    The layer is called with the input and optionally the initial state, zeros by default. It returns the
    outputs of the last layer at every step, and the last state of every layer.

    Shape:
        Input: (T, N, input_size), (N, T, input_size) with `batch_first`, (T, input_size), or a
            PackedSequence.
        Initial and last state: (D · num_layers, N, hidden_size), where D is 2 if `bidirectional` and 1
            otherwise.
        Output: (T, N, D · hidden_size), with the batch where the input has it.

    Raises:
        ValueError: `nonlinearity` is unknown, or a size is not positive

    Example:
        >>> layer = nn.RNN(input_size=4, hidden_size=8, num_layers=2)
        >>> output, state = layer(torch.randn(5, 3, 4))
        >>> output.shape, state.shape
        (torch.Size([5, 3, 8]), torch.Size([2, 3, 8]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
        **keywords: Any,
    ) -> None:
        if "proj_size" in keywords:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")

        mode = "RNN_TANH" if nonlinearity == "tanh" else "RNN_RELU"
        super().__init__(
            mode,
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            0,
            device,
            dtype,
        )
        self.nonlinearity = nonlinearity


class GRU(RNNBase):
    """Runs a network of gated recurrent units over sequences:

        r = σ(W_ir · x[t] + b_ir + W_hr · h[t-1] + b_hr)
        z = σ(W_iz · x[t] + b_iz + W_hz · h[t-1] + b_hz)
        n = tanh(W_in · x[t] + b_in + r · (W_hn · h[t-1] + b_hn))
        h[t] = (1 - z) · n + z · h[t-1]

    The parameters hold the rows of r, z and n below each other.

    Source: Cho et al., Learning phrase representations using RNN encoder-decoder (2014).

    Args:
        input_size: the number of features of the input
        hidden_size: the number of features of the hidden state
        num_layers: the number of layers; each further one reads the outputs of the one before; default 1
        bias: whether there are biases; default True
        batch_first: whether the batch is the first dimension of input and output; default False
        dropout: the probability of dropping outputs between layers in training; default 0.0
        bidirectional: whether a second network reads the sequence backwards; default False
        device, dtype: those of the parameters

    The layer is called with the input and optionally the initial state, zeros by default. It returns the
    outputs of the last layer at every step, and the last state of every layer.

    Shape:
        Input: (T, N, input_size), (N, T, input_size) with `batch_first`, (T, input_size), or a
            PackedSequence.
        Initial and last state: (D · num_layers, N, hidden_size), where D is 2 if `bidirectional` and 1
            otherwise.
        Output: (T, N, D · hidden_size), with the batch where the input has it.

    Example:
        >>> layer = nn.GRU(input_size=4, hidden_size=8, batch_first=True, bidirectional=True)
        >>> output, state = layer(torch.randn(3, 5, 4))
        >>> output.shape, state.shape
        (torch.Size([3, 5, 16]), torch.Size([2, 3, 8]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
        **keywords: Any,
    ) -> None:
        if "proj_size" in keywords:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")

        super().__init__(
            "GRU",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            0,
            device,
            dtype,
        )


class LSTM(RNNBase):
    """Runs a long short-term memory network over sequences. Its state is a hidden state h and a cell state c:

        i, f, o = σ(W · x[t] + b + W' · h[t-1] + b')    (each with its own weights)
        g = tanh(W_ig · x[t] + b_ig + W_hg · h[t-1] + b_hg)
        c[t] = f · c[t-1] + i · g
        h[t] = o · tanh(c[t])

    The parameters hold the rows of i, f, g and o below each other. With `proj_size`, h[t] is multiplied by
    `weight_hr_lk`.

    Source: Hochreiter and Schmidhuber, Long short-term memory (1997); for projections Sak, Senior and
    Beaufays (2014).

    Args:
        input_size: the number of features of the input
        hidden_size: the number of features of the cell state
        num_layers: the number of layers; each further one reads the outputs of the one before; default 1
        bias: whether there are biases; default True
        batch_first: whether the batch is the first dimension of input and output; default False
        dropout: the probability of dropping outputs between layers in training; default 0.0
        bidirectional: whether a second network reads the sequence backwards; default False
        proj_size: the number of features of the hidden state, less than `hidden_size`; default 0, which is
            not to project
        device, dtype: those of the parameters

    The layer is called with the input and optionally the initial states (h, c), zeros by default. It returns
    the outputs of the last layer at every step, and the last states (h, c) of every layer.

    Shape:
        Input: (T, N, input_size), (N, T, input_size) with `batch_first`, (T, input_size), or a
            PackedSequence.
        h: (D · num_layers, N, hidden_size or proj_size), where D is 2 if `bidirectional` and 1 otherwise.
        c: (D · num_layers, N, hidden_size).
        Output: (T, N, D · hidden_size or D · proj_size), with the batch where the input has it.

    Example:
        >>> layer = nn.LSTM(input_size=4, hidden_size=8, num_layers=2)
        >>> output, (h, c) = layer(torch.randn(5, 3, 4))
        >>> output.shape, h.shape, c.shape
        (torch.Size([5, 3, 8]), torch.Size([2, 3, 8]), torch.Size([2, 3, 8]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__(
            "LSTM",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )

    def check_forward_args(
        self, input: Tensor, hidden: tuple[Tensor, Tensor], batch_sizes: Tensor | None
    ) -> None:
        self.check_input(input, batch_sizes)
        self.check_hidden_size(
            hidden[0], self.get_expected_hidden_size(input, batch_sizes), "Expected hidden[0] size {}, got {}"
        )
        self.check_hidden_size(
            hidden[1], self.get_expected_cell_size(input, batch_sizes), "Expected hidden[1] size {}, got {}"
        )

    def permute_hidden(self, hx: tuple[Tensor, ...], permutation: Tensor | None) -> tuple[Tensor, ...]:
        return hx if permutation is None else tuple(state.index_select(1, permutation) for state in hx)

    def _check_states_of_batch(self, hx: tuple[Tensor, Tensor], batched: bool) -> None:
        wanted, kind = (3, "batched") if batched else (2, "unbatched")
        if hx[0].dim() != wanted or hx[1].dim() != wanted:
            raise RuntimeError(
                f"For {kind} {wanted}-D input, hx and cx should also be {wanted}-D but got "
                f"({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
            )

    def _initial(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[Tensor, Tensor]:
        cell = _torch.zeros(
            self.get_expected_cell_size(input, batch_sizes), dtype=input.dtype, device=input.device
        )
        return super()._initial(input, batch_sizes), cell

    def _mapped(self, hx: Any, function: Callable[[Tensor], Tensor]) -> Any:
        return tuple(function(state) for state in hx)
