"""What recurrent layers have in common: a stack of layers, each run over every step of a sequence."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.nn import init
from torch_py.nn._packing import PackedSequence
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter
from torch_py.types import Device, _dtype

__all__ = ["RNNBase"]

_OPERATORS: dict[str, Callable[..., Any]] = {
    "RNN_TANH": _torch.rnn_tanh,
    "RNN_RELU": _torch.rnn_relu,
    "LSTM": _torch.lstm,
    "GRU": _torch.gru,
}
_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


class RNNBase(Module):
    """Base of `RNN`, `GRU` and `LSTM`: a stack of layers, each run over every step of a sequence.

    Layer k has the parameters `weight_ih_lk`, `weight_hh_lk`, `bias_ih_lk` and `bias_hh_lk`, with `proj_size`
    also `weight_hr_lk`, and with `bidirectional` all of them again with the suffix `_reverse`. They start
    with uniform random numbers from ±1 / √hidden_size.

    Args:
        mode: 'RNN_TANH', 'RNN_RELU', 'GRU' or 'LSTM'
        input_size: the number of features of the input
        hidden_size: the number of features of the hidden state
        num_layers: the number of layers; default 1
        bias: whether there are biases; default True
        batch_first: whether the batch is the first dimension of inputs and outputs; default False
        dropout: the probability of dropping outputs between layers in training; default 0.0
        bidirectional: whether a second stack reads the sequence backwards; default False
        proj_size: the size to which the hidden state of an LSTM is projected; default 0, which is not to
            project
        device, dtype: those of the parameters

    Example:
        >>> isinstance(nn.GRU(4, 8), nn.RNNBase)
        True
    """

    def __init__(
        self,
        mode: str,
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
        super().__init__()
        _check_types(
            input_size=(input_size, int),
            hidden_size=(hidden_size, int),
            bias=(bias, bool),
            batch_first=(batch_first, bool),
        )
        _check_settings(mode, input_size, hidden_size, num_layers, dropout, proj_size)

        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size

        self._flat_weights_names: list[str] = []
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for direction in range(self._directions):
                self._add_parameters(layer, "_reverse" if direction else "", device, dtype)

        self.reset_parameters()

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _add_parameters(self, layer: int, suffix: str, device: Device, dtype: _dtype | None) -> None:
        """Registers the parameters of one direction of one layer."""
        gates = _GATES[self.mode] * self.hidden_size
        hidden = self.proj_size or self.hidden_size
        width = self.input_size if layer == 0 else hidden * self._directions
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (gates, width), "weight_hh": (gates, hidden)}
        if self.bias:
            shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        if self.proj_size > 0:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)

        names = [f"{kind}_l{layer}{suffix}" for kind in shapes]
        for name, shape in zip(names, shapes.values(), strict=True):
            setattr(self, name, Parameter(_torch.empty(shape, device=device, dtype=dtype)))
        self._flat_weights_names += names
        self._all_weights.append(names)

    @property
    def _flat_weights(self) -> list[Tensor]:
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Does nothing. In PyTorch it rearranges memory for cuDNN."""

    def reset_parameters(self) -> None:
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raises RuntimeError for a wrong number of dimensions or features, and ValueError if the dtype
        differs from that of the weights."""
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")

        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, "
                f"got {input.size(-1)}"
            )

        own = self._flat_weights[0].dtype
        if input.dtype != own and not _C.is_autocast_enabled(input.device.type):
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({own}). Convert input or the "
                "module."
            )

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """Returns the shape of the hidden state: (layers * directions, N, hidden_size or `proj_size`)."""
        batch = int(batch_sizes[0]) if batch_sizes is not None else input.size(0 if self.batch_first else 1)
        return self.num_layers * self._directions, batch, self.proj_size or self.hidden_size

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """Returns the shape of the cell state of an LSTM: (layers * directions, N, hidden_size)."""
        return (*self.get_expected_hidden_size(input, batch_sizes)[:2], self.hidden_size)

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Raises RuntimeError unless `hx` has the expected size."""
        if tuple(hx.size()) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raises RuntimeError or ValueError if the input or the hidden state does not fit this layer."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Returns the states with their sequences in the order of `permutation`; None keeps the order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def _check_states_of_batch(self, hx: Any, batched: bool) -> None:
        """Raises RuntimeError if the number of dimensions of the states does not fit that of the input."""
        if not batched and hx.dim() != 2:
            raise RuntimeError(f"For unbatched 2-D input, hx should also be 2-D but got {hx.dim()}-D tensor")
        if batched and hx.dim() != 3:
            raise RuntimeError(f"For batched 3-D input, hx should also be 3-D but got {hx.dim()}-D tensor")

    def _initial(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        """Returns states of zeros."""
        return _torch.zeros(
            self.get_expected_hidden_size(input, batch_sizes), dtype=input.dtype, device=input.device
        )

    def forward(
        self, input: Tensor | PackedSequence, hx: Tensor | tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor | PackedSequence, Any]:
        """Returns the outputs of the last layer at every step, and the last states (layers * directions, N,
        hidden_size). `hx` None starts from zeros."""
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead"
            )

        # A single sequence becomes a batch of one.
        batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        data = input if batched else input.unsqueeze(batch_dim)

        if hx is None:
            hx = self._initial(data, None)
        else:
            self._check_states_of_batch(hx, batched)
            if not batched:
                hx = self._mapped(hx, lambda state: state.unsqueeze(1))
        self.check_forward_args(data, hx, None)

        output, hidden = self._run(data, hx, None)
        if batched:
            return output, hidden
        return output.squeeze(batch_dim), self._mapped(hidden, lambda state: state.squeeze(1))

    def _forward_packed(self, input: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        """Runs a packed batch.

        States come and go in the caller's order of sequences, not in the packed order.
        """
        data, batch_sizes, sorted_indices, unsorted_indices = input
        if hx is None:
            hx = self._initial(data, batch_sizes)
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)

        output, hidden = self._run(data, hx, batch_sizes)
        packed = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        return packed, self.permute_hidden(hidden, unsorted_indices)

    def _mapped(self, hx: Any, function: Callable[[Tensor], Tensor]) -> Any:
        """Applies `function` to every state tensor."""
        return function(hx)

    def _run(self, data: Tensor, hx: Any, batch_sizes: Tensor | None) -> tuple[Tensor, Any]:
        """Calls the operator of this kind of layer. Returns the outputs and the states."""
        settings = (
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
        )

        if batch_sizes is None:
            output, *hidden = _OPERATORS[self.mode](data, hx, *settings, self.batch_first)
        else:
            output, *hidden = _OPERATORS[self.mode](data, batch_sizes, hx, *settings)

        return output, tuple(hidden) if len(hidden) > 1 else hidden[0]

    def extra_repr(self) -> str:
        defaults = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0,
            "bidirectional": False,
        }

        text = f"{self.input_size}, {self.hidden_size}"
        for name, usual in defaults.items():
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        return text


def _check_types(**settings: tuple[Any, type]) -> None:
    for name, (value, wanted) in settings.items():
        if not isinstance(value, wanted):
            raise TypeError(f"{name} should be of type {wanted.__name__}, got: {type(value).__name__}")


def _check_settings(
    mode: str, input_size: int, hidden_size: int, num_layers: int, dropout: float, proj_size: int
) -> None:
    if not isinstance(dropout, numbers.Number) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being "
            "zeroed"
        )

    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
            f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )

    if input_size <= 0:
        raise ValueError("input_size must be greater than zero")
    if hidden_size <= 0:
        raise ValueError("hidden_size must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")
    if mode not in _GATES:
        raise ValueError("Unrecognized RNN mode: " + mode)
