"""Records one run of a program: the operators that it calls, below autograd.

Note [How a run is recorded]
The program runs on real tensors inside a TorchDispatchMode, which receives every call of an operator. An
operator that is made of others is seen as those, except where there is a rule for the whole (linear,
layer_norm, lstm): such operators get a kernel at the key Python that asks the mode first. What the program
writes to tensors becomes new values, see Note [Views and writes] in _memory.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch_py._generated.lowerings import READS
from torch_py._ops import OpOverload
from torch_py._tensor import Tensor
from torch_py.onnx._calls import (
    Call,
    Constant,
    Facts,
    Origin,
    Value,
    bind,
    leaves_of,
    mapped,
    origin_of_call,
    pure_name,
)
from torch_py.onnx._memory import Entry, Memory, address_of, is_same_place
from torch_py.onnx._registry import DECOMPOSITIONS, OVERWRITING, find
from torch_py.onnx.errors import OnnxExporterError, TracerWarning
from torch_py.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack
from torch_py.utils._pytree import tree_leaves


@dataclass(eq=False)
class Number:
    """A tensor that the program may have given for a number. See Note [Tensors as numbers], _watching.py."""

    tensor: Tensor
    number: Any
    names: frozenset[str]  # the names that the argument may have
    is_found: bool = False


class Recorder(TorchDispatchMode):
    """The calls of one run in order, and the facts about every value in it."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.facts: list[Facts] = []
        self.modules: list[str] = []  # the paths of the modules that are running
        self.function = ""  # the function of torch that is running
        self.numbers: list[Number] = []  # tensors among its arguments that it may take as numbers
        self._memory = Memory(self._append)

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    # -- what the program has ------------------------------------------------------------

    def wrap(self, tensor: Tensor, depends: bool, name: str | None = None) -> Tensor:
        """A copy of an input or a parameter, which the program may write to."""
        copy = tensor.detach().clone()
        self.facts.append(
            Facts(tuple(tensor.shape), tensor.dtype, None if depends else tensor.detach(), name)
        )
        self._memory.add(Entry(copy, Value(len(self.facts) - 1)))
        return copy

    def value(self, tensor: Tensor) -> Value | Constant:
        """The value of a tensor now."""
        return self._memory.value(tensor)

    def depends(self, tree: Any) -> bool:
        """Whether a tensor among the leaves depends on an input or on chance."""
        values = [self.value(leaf) if isinstance(leaf, Tensor) else leaf for leaf in leaves_of(tree)]
        return self._is_computed(values)

    def _is_computed(self, values: Sequence[Any]) -> bool:
        return any(isinstance(leaf, Value) and self.facts[leaf.index].data is None for leaf in values)

    def forget(self) -> None:
        """Gives the memory of the run free, once it is over."""
        self._memory = Memory(self._append)

    def origin(self) -> Origin:
        """What the program is doing now."""
        return origin_of_call(self.modules[-1] if self.modules else "", self.function)

    # -- calls ------------------------------------------------------------

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        arguments = bind(func, args, kwargs)
        written = [argument.name for argument in func._schema.arguments if argument.is_write]

        given_tensors = _tensors_of(list(arguments.values()))
        if func._opname != "item":  # which is how numbers are read
            for number in self.numbers:
                number.is_found |= _is_among(number.tensor, given_tensors)

        decomposition = find(DECOMPOSITIONS, pure_name(func), func._entry_name)
        if decomposition is not None:
            given = {key: value for key, value in arguments.items() if key not in _outs(func)}
            with self:
                result = decomposition(**given)
                if result is not NotImplemented:
                    return self._stored(result, [arguments[name] for name in written])

        values = {key: self._noted(key, value) for key, value in arguments.items()}
        targets = self._targets(func, [arguments[name] for name in written])
        result = func(*args, **kwargs)

        if not targets:
            self._record_results(func, values, given_tensors, tree_leaves(result))
        elif _changes_geometry(func):
            call = self._called(func, values, [arguments["self"]])
            self._memory.replace_view(arguments["self"], call)
        elif func._opname != "copy_" or not is_same_place(arguments["self"], arguments["src"]):
            self._record_writes(func, values, targets)  # except at the end of `x[index] += 1`
        return result

    def reads(self, func: OpOverload, args: Any, kwargs: Any) -> bool:
        """Whether an operator is made of others that depend on numbers in its tensors. Warns of numbers that
        depend on an input."""
        names = READS.get(func._entry_name, ())
        arguments = bind(func, args, kwargs)
        if self.depends([arguments[name] for name in names]):
            self.warn_of_reading(func._opname)
        return bool(names)

    def warn_of_reading(self, name: str) -> None:
        """Warns, at the line of the program, that a number of this run becomes part of the graph."""
        origin = self.origin()
        warnings.warn_explicit(
            f"torch.onnx.export: {name}(){origin} reads a number out of a tensor; the exported model keeps "
            "the number of this run, also for other inputs",
            TracerWarning,
            origin.file,
            origin.line,
        )

    def _stored(self, result: Any, targets: list[Any]) -> Any:
        """The result of a decomposition, written to where the operator writes."""
        if not targets:
            return result
        for target, part in zip(targets, tree_leaves(result)):
            if target.shape != part.shape:
                raise OnnxExporterError(
                    f"torch.onnx.export: out= of another shape than the result{self.origin()}; leave it out"
                )
            target.copy_(part)
        return targets[0] if len(targets) == 1 else tuple(targets)

    def _noted(self, name: str, argument: Any) -> Any:
        """An argument with values in place of tensors, and of numbers that were read out of tensors."""
        if type(argument) in (int, float):
            for number in self.numbers:
                if name in number.names and number.number == argument:
                    number.is_found = True
                    return self.value(number.tensor)
        return mapped(lambda leaf: self.value(leaf) if isinstance(leaf, Tensor) else leaf, argument)

    def knows(self, leaf: Any) -> bool:
        """Whether a call has made this tensor. Everything else is known."""
        return not isinstance(leaf, Tensor) or self._memory.knows(leaf)

    def _targets(self, func: OpOverload, written: Sequence[Any]) -> list[tuple[Tensor, Entry]]:
        """The tensors that a call is about to write to, with their entries.

        Raises OnnxExporterError for those that outlive the run.
        """
        targets = [(tensor, self._memory.entry(tensor)) for tensor in _tensors_of(written)]
        if _changes_geometry(func):
            self._memory.make_view_of_itself(targets[0][0])
            return targets

        for tensor, entry in targets:
            root = entry.root
            if not isinstance(root.value, Constant):
                continue
            is_new = tensor is root.tensor and bool(pure_name(func) in OVERWRITING or _outs(func))
            if not is_new:
                raise OnnxExporterError(
                    f"torch.onnx.export: {func._opname}{self.origin()} writes to a tensor that was made "
                    "before the export; make the tensor inside of forward"
                )
            root.value.tensor = root.value.tensor.clone()  # earlier calls used what it was
        return targets

    def _record_writes(self, func: OpOverload, values: Any, targets: list[tuple[Tensor, Entry]]) -> None:
        call = self._called(func, values, [tensor for tensor, _ in targets])
        for (tensor, entry), value in zip(targets, call.results):
            assert value is not None
            self._memory.note(tensor, entry)  # ``out=`` may have been resized
            self._memory.write(entry, value)

    def _record_results(
        self, func: OpOverload, values: Any, given: Sequence[Tensor], leaves: Sequence[Any]
    ) -> None:
        new = [leaf if isinstance(leaf, Tensor) and not _is_among(leaf, given) else None for leaf in leaves]
        if any(leaf is not None for leaf in new):
            call = self._called(func, values, new)
            shapes = tuple(() if leaf is None else tuple(leaf.shape) for leaf in new)
            for position, (leaf, value) in enumerate(zip(new, call.results)):
                if leaf is not None and value is not None:
                    base = self._base(leaf, given)
                    self._memory.add(Entry(leaf, value, base, call if base else None, position, shapes))

    def _called(self, func: OpOverload, values: Any, outputs: Any) -> Call:
        arguments = {key: value for key, value in values.items() if key not in _outs(func)}
        is_random = "nondeterministic_seeded" in func.tags
        origin = self.origin()
        call = Call(pure_name(func), func._entry_name, arguments, [], origin, is_random)
        return self._append(call, call.name, arguments, outputs)

    def _append(self, like: Call | None, name: str, arguments: dict[str, Any], outputs: Any) -> Call:
        """Appends a call of the operator `name` with results of the shape of `outputs`."""
        origin = like.origin if like is not None else self.origin()
        is_random = like is not None and like.is_random
        depends = is_random or self._is_computed(leaves_of(arguments))
        results = [None if tensor is None else self._fact(tensor, depends) for tensor in outputs]

        overload = like.overload if like is not None else name
        call = Call(name, overload, arguments, results, origin, is_random)
        self.calls.append(call)
        return call

    def _fact(self, tensor: Tensor, depends: bool) -> Value:
        plain = None if depends else tensor.detach().clone()
        self.facts.append(Facts(tuple(tensor.shape), tensor.dtype, plain))
        return Value(len(self.facts) - 1)

    def _base(self, result: Tensor, given: Sequence[Tensor]) -> Entry | None:
        """The argument that a result is a view of."""
        address = address_of(result)
        found = [tensor for tensor in given if address and address_of(tensor) == address]
        return self._memory.entry(found[0]) if found else None


def _tensors_of(tree: Any) -> list[Tensor]:
    return [leaf for leaf in leaves_of(tree) if isinstance(leaf, Tensor)]


def _is_among(tensor: Tensor, others: Sequence[Tensor]) -> bool:
    return any(tensor is other for other in others)


def _changes_geometry(func: OpOverload) -> bool:
    """Whether an operator in place leaves the elements as they are: `unsqueeze_`."""
    return "inplace_view" in func.tags


def _outs(func: OpOverload) -> list[str]:
    return [argument.name for argument in func._schema.arguments if argument.is_out]


def current_recorder() -> Recorder | None:
    """The recorder of the export that this thread is in; None outside of all."""
    modes = [mode for mode in _get_current_dispatch_mode_stack() if isinstance(mode, Recorder)]
    return modes[-1] if modes else None
