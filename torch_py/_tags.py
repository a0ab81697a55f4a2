"""`torch.Tag`: properties of operators."""

from __future__ import annotations

import enum
from typing import Any


class _Words(enum.EnumMeta):
    def __contains__(cls, word: Any) -> bool:
        """Whether a member has this name."""
        return word in cls.__members__.values() or word in cls.__members__


class Tag(str, enum.Enum, metaclass=_Words):
    """A property of an operator, as ``torch.ops.aten.add.Tensor.tags`` has them. Equals its name.

    torch_py's entries use those that its generator, its tests or its graphs look up.

    Example:
        >>> torch.Tag.pointwise in torch.ops.aten.add.Tensor.tags
        True
        >>> torch.Tag.pointwise == "pointwise"
        True
    """

    core = "core"
    cudagraph_unsafe = "cudagraph_unsafe"
    data_dependent_output = "data_dependent_output"
    dynamic_output_shape = "dynamic_output_shape"
    flexible_layout = "flexible_layout"
    generated = "generated"
    inplace_view = "inplace_view"
    maybe_aliasing_or_mutating = "maybe_aliasing_or_mutating"
    needs_contiguous_strides = "needs_contiguous_strides"
    needs_exact_strides = "needs_exact_strides"
    needs_fixed_stride_order = "needs_fixed_stride_order"
    nondeterministic_bitwise = "nondeterministic_bitwise"
    nondeterministic_seeded = "nondeterministic_seeded"
    pointwise = "pointwise"
    pt2_compliant_tag = "pt2_compliant_tag"
    reduction = "reduction"
    view_copy = "view_copy"

    __hash__ = str.__hash__

    def __repr__(self) -> str:
        return f"Tag.{self.name}"

    __str__ = __repr__
