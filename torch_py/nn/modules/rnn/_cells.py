"""Cells: recurrent layers for one step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.nn import init
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter
from torch_py.types import Device, _dtype

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """Base of the cells, which compute one step of a recurrent network.

    The parameters `weight_ih`, `weight_hh`, `bias_ih` and `bias_hh` start with uniform random numbers from ±1
    / √hidden_size.

    Args:
        input_size: the number of features of the input
        hidden_size: the number of features of the state
        bias: whether there are biases
        num_chunks: the number of gates, whose weights are below each other
        device, dtype: those of the parameters

    Example:
        >>> isinstance(nn.GRUCell(4, 8), nn.RNNCellBase)
        True
    """

    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias

        gates = num_chunks * hidden_size
        self.weight_ih = Parameter(_torch.empty((gates, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(_torch.empty((gates, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(
                name, Parameter(_torch.empty(gates, device=device, dtype=dtype)) if bias else None
            )

        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _step(self, operator: Callable[..., Any], input: Tensor, hx: Any) -> Any:
        """Checks the input (N, input_size) or (input_size,), starts from
        zeros if `hx` is None, and calls `operator`."""
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")

        states = hx if isinstance(hx, (tuple, list)) else (hx,)
        for state in states if hx is not None else ():
            if state.dim() not in (1, 2):
                raise ValueError(f"{name}: Expected hidden to be 1D or 2D, got {state.dim()}D instead")

        batched = input.dim() == 2
        batch = input if batched else input.unsqueeze(0)
        has_cell_state = isinstance(self, LSTMCell)
        if hx is None:
            zeros = _torch.zeros((batch.size(0), self.hidden_size), dtype=input.dtype, device=input.device)
            hx = (zeros, zeros) if has_cell_state else zeros
        elif not batched:
            hx = tuple(state.unsqueeze(0) for state in hx) if has_cell_state else hx.unsqueeze(0)

        result = operator(batch, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if batched:
            return result
        return tuple(state.squeeze(0) for state in result) if has_cell_state else result.squeeze(0)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"


class RNNCell(RNNCellBase):
    """Computes one step of a simple recurrent network:

        h' = tanh(W_ih · x + b_ih + W_hh · h + b_hh)

    Args:
        input_size: the number of features of the input
        hidden_size: the number of features of the state
        bias: whether there are biases; default True
        nonlinearity: 'tanh' (default) or 'relu'
        device, dtype: those of the parameters

    Shape:
        Input: (N, input_size) or (input_size,).
        State: (N, hidden_size) or (hidden_size,); zeros if it is not given.
        Output: the shape of the state.

    Example:
        >>> cell = nn.RNNCell(4, 8)
        >>> state = torch.zeros(3, 8)
        >>> for x in torch.randn(5, 3, 4):
        ...     state = cell(x, state)
        >>> state.shape
        torch.Size([3, 8])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        cell = _torch.rnn_tanh_cell if self.nonlinearity == "tanh" else _torch.rnn_relu_cell
        return self._step(cell, input, hx)


class LSTMCell(RNNCellBase):
    """Computes one step of a long short-term memory network; `LSTM` has the formulas.

    Args:
        input_size: the number of features of the input
        hidden_size: the number of features of both states
        bias: whether there are biases; default True
        device, dtype: those of the parameters

    Shape:
        Input: (N, input_size) or (input_size,).
        States: a pair (h, c), each (N, hidden_size) or (hidden_size,); zeros if they are not given.
        Output: a pair of new states of the same shapes.

    Example:
        >>> cell = nn.LSTMCell(4, 8)
        >>> h, c = cell(torch.randn(3, 4))
        >>> h, c = cell(torch.randn(3, 4), (h, c))
        >>> h.shape, c.shape
        (torch.Size([3, 8]), torch.Size([3, 8]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        return self._step(_torch.lstm_cell, input, hx)


class GRUCell(RNNCellBase):
    """Computes one step of a gated recurrent unit; `GRU` has the formulas.

    Args:
        input_size: the number of features of the input
        hidden_size: the number of features of the state
        bias: whether there are biases; default True
        device, dtype: those of the parameters

    Shape:
        Input: (N, input_size) or (input_size,).
        State: (N, hidden_size) or (hidden_size,); zeros if it is not given.
        Output: the shape of the state.

    Example:
        >>> cell = nn.GRUCell(4, 8)
        >>> cell(torch.randn(3, 4), torch.zeros(3, 8)).shape
        torch.Size([3, 8])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(_torch.gru_cell, input, hx)
