"""One capture: what is known about the objects of the program while its code is interpreted.

The interpreter works with the program's own objects, and with fake tensors in place of tensors. An object
that existed before has an *origin*, the source where it was met first; what is read from it is guarded. An
object made on the way is *new*. Writes to objects with an origin are kept in the journal.
"""

from __future__ import annotations

from typing import Any

from torch_py._C import Size, _level_of
from torch_py._dynamo import attributes, calls, operations
from torch_py._dynamo.breaks import Break, unsupported_call
from torch_py._dynamo.frame import Frame, call_parts
from torch_py._dynamo.writing import Writing
from torch_py._shapes.numbers import Held, SymFloat, SymInt, SymSize
from torch_py._subclasses.fake_tensor import FakeTensor
from torch_py._tensor import Tensor
from torch_py.nn.parameter import Parameter

_SEEN_AS: dict[type, type] = {SymInt: int, SymFloat: float, SymSize: Size}


class Capture(Writing):
    """The state that the frames of a capture share, and the operations that their instructions need."""

    def break_at_output(self, frame: Frame) -> None:
        """Raises Break if a frame is about to call `print`: its arguments need no guards."""
        _, callee, *_ = call_parts(frame.instruction, frame.stack, frame.keyword_names)
        if self.admitted(callee) is print:
            raise unsupported_call("print", "it writes to a file")

    def elements_of(self, value: Any, most: int | None = None) -> list[Any]:
        """The elements of an iterable; with `most`, only so many need to be there."""
        if type(value) is tuple and id(value) not in self._origins:
            return list(value)
        iterator = operations.iterator_of(self, value)
        found: list[Any] = []
        while len(found) != most:
            element = operations.next_of(self, iterator, operations.END)
            if element is operations.END:
                break
            found.append(element)
        return found

    def items_of(self, value: Any) -> dict[Any, Any]:
        """A dictionary of the entries of a mapping."""
        if isinstance(value, dict):
            self.use(value)
            return {key: self.plain(item) for key, item in value.items()}
        keys = self.call(attributes.load(self, value, "keys"), (), {})
        return {key: operations.subscript(self, value, key) for key in self.elements_of(keys)}

    def call(self, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        return calls.call(self, callee, args, kwargs)

    def truth(self, value: Any) -> bool:
        return operations.truth(self, value)

    def assumes(self, value: Any, truth: bool) -> bool:
        """Whether the capture goes on as if a value had this truth: compiled code asks the tensor after the
        graph. Raises Break where it may not, though nothing else is in the way."""
        if not isinstance(value, FakeTensor):
            return False
        if value.numel() != 1 or value.requires_grad or _level_of(value) or len(self.recorder.scopes) > 1:
            return False
        if self.recorder.constant_of(value) is not None:
            return False
        if self.not_assumed:
            hint = "assert outside of the compiled function"
            raise Break("an `assert` on a tensor", self.not_assumed, hint)
        self.assumed.append((value, truth))
        return True

    def class_of(self, value: Any) -> type:
        """``type(value)``, as the program sees it."""
        if type(value) is Held:
            return value.kind
        if isinstance(value, FakeTensor):
            known = self.recorder.input_of(value)
            if known is not None:
                return type(known.real)
            return Parameter if getattr(value, "_is_param", False) else Tensor
        return _SEEN_AS.get(type(value), type(value))
