"""Functions and methods of sparse and quantized tensors, which raise an error: all tensors here are dense."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

__all__ = [
    "sparse_bsc_tensor",
    "sparse_bsr_tensor",
    "sparse_compressed_tensor",
    "sparse_coo_tensor",
    "sparse_csc_tensor",
    "sparse_csr_tensor",
]

# Methods of one layout, and the name of the layout in their errors.
_LAYOUTS = {
    "coalesce": "coordinate tensor",
    "is_coalesced": "coordinate tensor",
    "indices": "coordinate tensor",
    "values": "tensor",
    "crow_indices": "row compressed tensor",
    "col_indices": "row compressed tensor",
    "row_indices": "column compressed tensor",
    "ccol_indices": "column compressed tensor",
}
# Methods without an implementation for dense tensors.
_UNIMPLEMENTED = (
    "_indices",
    "_nnz",
    "_values",
    "int_repr",
    "q_per_channel_axis",
    "q_per_channel_scales",
    "q_per_channel_zero_points",
    "q_scale",
    "q_zero_point",
    "qscheme",
    "sparse_mask",
    "sparse_resize_",
    "sparse_resize_and_clear_",
)
_CONVERSIONS = (
    "to_sparse",
    "to_sparse_bsc",
    "to_sparse_bsr",
    "to_sparse_coo",
    "to_sparse_csc",
    "to_sparse_csr",
    "to_padded_tensor",
)


_PLACES = {
    "lstsq": "use torch.linalg.lstsq",
    "reinforce": "use torch.distributions",
    "solve": "use torch.linalg.solve",
    "xpu": "this build of torch_py supports CPUs only",
}


def _refusal(name: str) -> Callable[..., NoReturn]:
    def refuse(*arguments: Any, **keywords: Any) -> NoReturn:
        raise NotImplementedError(f"torch.{name}: torch_py has dense (strided) tensors only")

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    refuse.__doc__ = "Raises NotImplementedError: torch_py does not support sparse tensors."
    refuse.__refuses__ = True  # type: ignore[attr-defined]  # read by tools.names
    return refuse


sparse_bsc_tensor, sparse_bsr_tensor = _refusal("sparse_bsc_tensor"), _refusal("sparse_bsr_tensor")
sparse_compressed_tensor, sparse_coo_tensor = (
    _refusal("sparse_compressed_tensor"),
    _refusal("sparse_coo_tensor"),
)
sparse_csc_tensor, sparse_csr_tensor = _refusal("sparse_csc_tensor"), _refusal("sparse_csr_tensor")


def _elsewhere(name: str, place: str) -> Callable[..., NoReturn]:
    def method(self: Any, *arguments: Any, **keywords: Any) -> NoReturn:
        raise NotImplementedError(f"torch.Tensor.{name}: {place}")

    method.__name__ = name
    method.__refuses__ = True  # type: ignore[attr-defined]  # read by tools.names
    return method


def _expecting(name: str, expected: str) -> Callable[..., NoReturn]:
    def method(self: Any) -> NoReturn:
        raise RuntimeError(f"{name} expected sparse {expected} layout but got Strided")

    method.__name__ = name
    return method


def _unimplemented(name: str) -> Callable[..., NoReturn]:
    def method(self: Any, *arguments: Any, **keywords: Any) -> NoReturn:
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: it is not for dense tensors"
        )

    method.__name__ = name
    return method


def _dequantize(self: Any) -> Any:
    """The tensor in float32; tensors are never quantized here."""
    return self.float()


def add_methods(tensor: type) -> None:
    """Adds the methods to the class of tensors, unless it has its own."""
    methods: dict[str, Callable[..., Any]] = {
        name: _expecting(name, expected) for name, expected in _LAYOUTS.items()
    }
    methods.update({name: _unimplemented(name) for name in _UNIMPLEMENTED})
    methods.update({name: _refusal(f"Tensor.{name}") for name in _CONVERSIONS})
    methods.update({name: _elsewhere(name, place) for name, place in _PLACES.items()})
    methods["dequantize"] = _dequantize
    methods["volatile"] = property(lambda self: False, doc="False: a switch of PyTorch before 0.4.")  # type: ignore[assignment]
    for name, method in methods.items():
        if not hasattr(tensor, name):
            setattr(tensor, name, method)
