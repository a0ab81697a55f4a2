"""What a compiled call consists of, apart from the programs of its graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch_py._functorch.aot.recipes import Recipe
from torch_py._functorch.aot.runtime.calls import Call, CallWithoutInference, without_backward, without_casts
from torch_py._functorch.aot.runtime.training import function_of
from torch_py._functorch.aot.sources import Source
from torch_py._functorch.aot.traced import Change, Reshaping, Traced
from torch_py._records import Record

Compiled = Callable[..., Sequence[Any]]


class Parts(Record):
    """How arguments become inputs of a graph, and its outputs results; see `Traced`.

    `training` is what autograd has to know of a call with a backward; None for one without. `has_history`
    says whether autograd records the arguments, `is_autocast` whether the call begins under autocast, and
    `leaves_inference` whether results are made without the inference mode that it begins in.
    """

    num_arguments: int
    has_history: bool
    is_autocast: bool
    leaves_inference: bool
    inputs: list[Source]
    changes: list[Change]
    reshapings: list[Reshaping]
    recipes: list[Recipe]
    training: Mapping[str, Any] | None

    @classmethod
    def of(
        cls, traced: Traced, num_arguments: int, has_history: bool, training: Mapping[str, Any] | None = None
    ) -> Parts:
        """Those of a call that was recorded."""
        return cls(
            num_arguments,
            has_history,
            traced.is_autocast,
            traced.leaves_inference,
            traced.inputs,
            traced.changes,
            traced.reshapings,
            traced.outputs.recipes,
            training,
        )

    def call(self, forward: Compiled, backward: Compiled | None = None) -> Call:
        """The call, with what its graphs have been compiled to."""
        if self.is_autocast:
            forward = without_casts(forward)
        if self.training is None or backward is None:
            run = without_backward(forward, self.has_history)
        else:
            run = function_of(self.training, forward, backward)
        kind = CallWithoutInference if self.leaves_inference else Call
        return kind(self, run)
