"""Calls of torch functions as nodes of an FX graph, one node for each call, while they run on fake tensors.

The interpreter records the calls that it makes itself. What native code or library code calls on its way is
seen by the recorder as a `TorchFunctionMode`. A graph inside of a node has a scope of its own: what it gets
from the graphs around it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch_py import _C
from torch_py._dynamo.capture_mode import MOST_CALLS, CaptureMode, TooManyCalls, memory_in
from torch_py._dynamo.exc import Break, RefusedForStandIns, data_dependent
from torch_py._dynamo.sources import Source
from torch_py._dynamo.varying import SIZES, Question, Varying, name_read
from torch_py._dynamo.varying_arguments import has_tensors, map_tensors, may_stay, settle_shifts, settled_key
from torch_py._dynamo.varying_counts import Run, settle_steps, settled_numbers
from torch_py._records import Fields
from torch_py._shapes.numbers import VARYING, Held
from torch_py._subclasses import errors
from torch_py._subclasses.calls import asks_for_elements
from torch_py._subclasses.fake_tensor import FakeTensor
from torch_py._tensor import Tensor
from torch_py.fx._order import reached
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node
from torch_py.overrides import TorchFunctionMode
from torch_py.utils._python_dispatch import _disable_current_modes


class Recorder(TorchFunctionMode):
    """The graph of a capture, and the tensors that its nodes stand for."""

    def __init__(self, fake_mode: CaptureMode, stack_trace: Callable[[], str], varying: Varying) -> None:
        super().__init__()
        self.fake_mode = fake_mode
        self.varying = varying
        varying.recorder = self
        self.stack_trace = stack_trace
        self.scopes = [Scope()]
        self.inputs: dict[int, Input] = {}  # by the id of the real tensor
        self.numbers: dict[int, Input] = {}  # by the id of the source
        self._input_of_fake: dict[int, Input] = {}

    @property
    def graph(self) -> Graph:
        return self.scopes[-1].graph

    def begin_scope(self) -> Scope:
        """Until `end_scope`, calls are recorded in a graph of their own."""
        self.scopes.append(Scope())
        return self.scopes[-1]

    def end_scope(self) -> None:
        self.scopes.pop()

    # Tensors

    def input(self, real: Tensor, source: Source) -> Tensor:
        """The fake tensor for a real one, which becomes an input of the graph."""
        with self.suspended(), self.fake_mode.preparing():
            found = self.varying.stand_in(self.fake_mode, real, source)
            try:
                fake, geometry = found or (self.fake_mode.from_tensor(real), None)
            except Exception as error:  # which the program would handle as its own
                raise Break(f"use of {source.text}", f"no fake tensor can stand for it: {error}") from error
        self.fake_mode.places.note_input(fake)

        made = Input(real, source, self._placeholder(source, fake), fake)
        self.scopes[0].nodes[id(fake)] = fake, made.node
        self.varying.note_input(made, geometry)
        self.inputs[id(real)] = made
        self._input_of_fake[id(fake)] = made
        return fake

    def number_input(self, value: int, source: Source) -> int:
        """An integer of the program: one that varies becomes an input of the graph."""
        known = self.numbers.get(id(source))
        if known is not None:
            return known.fake  # type: ignore[no-any-return]
        number = self.varying.number(value, source)
        if number is None:
            return value

        made = Input(value, source, self._placeholder(source, value), number)
        self.numbers[id(source)] = made
        self.varying.note_number(made)
        return number

    def _placeholder(self, source: Source, example: Any) -> Node:
        node = self.scopes[0].placeholder(source.as_name().lower() or "input")
        node.meta["example_value"] = example
        return node

    def all_inputs(self) -> list[Input]:
        """The tensors, and the numbers that vary."""
        return [*self.inputs.values(), *self.numbers.values()]

    def input_of(self, fake: Tensor) -> Input | None:
        return self._input_of_fake.get(id(fake))

    def offset_of(self, real: Tensor) -> int | None:
        """Where an input, or the base of one, begins in its memory; None if that makes no difference to the
        program."""
        made = self.inputs.get(id(real))
        matters = made is None or self.fake_mode.places.matter_for(made.fake)
        return real.storage_offset() if matters else None

    def is_result(self, value: Any) -> bool:
        """Whether a value is a tensor that a node of the graph computes."""
        return isinstance(value, FakeTensor) and self.input_of(value) is None

    def track(self, fake: Tensor, node: Node) -> None:
        self.scopes[-1].nodes[id(fake)] = fake, node
        node.meta["example_value"] = fake

    def node_of(self, tensor: Any) -> Any:
        """The node that gives a tensor, or a size that varies. Raises Break for tensors of unknown origin."""
        if type(tensor) in VARYING:
            if len(self.scopes) > 1:  # nested graphs have plain numbers: their sizes do not vary
                return self.varying.fixed(tensor)
            return self.varying.node_of(tensor, self.graph)
        known = self.scopes[-1].nodes.get(id(tensor))
        if known is not None:
            return known[1]
        if self.knows(tensor):
            return self.scopes[-1].lift(tensor)  # from an outer graph
        hint = "make the tensor in the compiled function, or pass it as an argument"
        raise Break("use of a tensor", "it was made by code that is not captured", hint)

    def constant_of(self, tensor: Tensor) -> Tensor | None:
        """The values of a tensor, if they are the same in all calls."""
        constant: Tensor | None = getattr(tensor, "constant", None)
        return None if constant is None or self._depends_on_numbers(tensor) else constant

    def _depends_on_numbers(self, tensor: Tensor) -> bool:
        """Whether a tensor was computed from numbers that vary, so that its values are those of stand-ins."""
        if not self.varying.places or not self.knows(tensor):
            return False
        found = reached([self.node_of(tensor)], lambda node: node.all_input_nodes)
        return any(not isinstance(node.meta.get("example_value"), (Tensor, tuple, list)) for node in found)

    def knows(self, tensor: Tensor) -> bool:
        """Whether a node of the graph, or of one around it, gives the tensor."""
        return any(id(tensor) in scope.nodes for scope in self.scopes)

    def fake_of(self, tensor: Any) -> Any:
        """The fake tensor that stands for a tensor of the program: itself, or that of an input."""
        if type(tensor) is Held:
            tensor.refuse()
        if isinstance(tensor, FakeTensor) or type(tensor) in VARYING or self.knows(tensor):
            return tensor
        known = self.inputs.get(id(tensor))
        return self.node_of(tensor) if known is None else known.fake

    # Modes

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Torch functions run without being recorded."""
        before = _C._set_torch_function_modes_enabled(False)
        try:
            yield
        finally:
            _C._set_torch_function_modes_enabled(before)

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Torch functions run on real tensors."""
        with self.suspended(), _disable_current_modes():
            yield

    # Calls

    def call(self, op: str, target: Any, args: Any, kwargs: Any, run: Run, acts: bool = False) -> Any:
        """Runs `run(*args, **kwargs)` on fake tensors. A node records it if the result has tensors.

        `acts`: the call may do more than compute its result, so its node stays even if the result is unused.
        """
        args, kwargs = map_tensors((tuple(args), kwargs), self.fake_of)
        if self.varying.places:
            args, kwargs = self._settled(target, args, kwargs)
            args, kwargs = settled_numbers(self.varying, target, run, args, kwargs)

        result = self._result(target, run, args, kwargs)
        if self.fake_mode.problem:
            raise Break(_shown(target), self.fake_mode.problem)

        is_read = op == "read"  # of an attribute
        effects = [] if is_read else self._effects(acts, args, kwargs)
        if not (effects or has_tensors(result) or (result is None and not is_read)):
            return self.number(target, args, result, lambda tensor: run(tensor, *args[1:], **kwargs))

        node = self.append("call_function" if is_read else op, target, args, kwargs, result)
        node.meta.update(dict.fromkeys(effects, True))
        return result

    def _effects(self, acts: bool, args: Any, kwargs: dict[str, Any]) -> list[str]:
        """What the call that has run has done apart from its result: see capture_mode.py."""
        mode = self.fake_mode
        found = ["acts"] * acts
        if mode.has_drawn:  # later numbers depend on it, whether the result is used or not
            found.append("draws")
        if mode.written and not mode.written.isdisjoint(memory_in(args, kwargs)):
            found.append("writes")
        return found

    def _result(self, target: Any, run: Run, args: Any, kwargs: dict[str, Any]) -> Any:
        self.fake_mode.begin()
        self.fake_mode.calls_left = MOST_CALLS if self.varying.places else math.inf

        before = _C._set_torch_function_modes_enabled(False)
        try:
            return run(*args, **kwargs)
        except TooManyCalls:
            settle_steps(self.varying, run, args, kwargs)
        except errors.DataDependentOutputException as error:
            raise data_dependent(_shown(target)) from error
        except errors.DynamicOutputShapeException as error:
            why = "the shape of the result depends on the values of tensors"
            raise Break(_shown(target), why, "use a mask of fixed size, with torch.where") from error
        except errors.FakeTensorError as error:  # not what the program would see
            raise Break(_shown(target), str(error)) from error
        except Exception as error:
            if asks_for_elements(error):
                raise data_dependent(_shown(target)) from error
            if self.varying.places:
                raise RefusedForStandIns from error
            if self.fake_mode.written:  # the program may go on with that
                raise Break(_shown(target), "it raises an exception after it has changed tensors") from error
            raise
        finally:
            self.fake_mode.calls_left = math.inf
            _C._set_torch_function_modes_enabled(before)

    def _settled(self, target: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The arguments of a call; those that it may not get are replaced by the numbers of the example."""
        varying = self.varying

        def settled(value: Any, argument: int | str) -> Any:
            def stays(number: Any) -> Any:
                is_number = type(number) in VARYING and not may_stay(number, target, argument)
                return varying.fixed(number) if is_number else number

            return map_tensors(value, stays)

        if target in (operator.getitem, operator.setitem) and isinstance(args[0], Tensor):
            with self.suspended():
                args = (args[0], settled_key(varying, args[0], args[1]), *args[2:])
        with self.suspended():
            settle_shifts(varying, target, args, kwargs)
        args = tuple(settled(value, position) for position, value in enumerate(args))
        return args, {name: settled(value, name) for name, value in kwargs.items()}

    def number(self, target: Any, args: tuple[Any, ...], result: Any, question: Question) -> Any:
        """A tensor's answer, with SymInts for sizes that vary. `question` asks another tensor the same."""
        name = name_read(target, args)
        if name == "storage_offset":
            self.fake_mode.places.count(args[0])
        if not self.varying.places or not isinstance(args[0], Tensor) or name not in SIZES:
            return result
        return self.varying.read(result, self.node_of(args[0]), question)

    def append(self, op: str, target: Any, args: Any, kwargs: Any, result: Any) -> Node:
        """A node for a call that has run, of which `result` is the result."""
        args, kwargs = map_tensors((tuple(args), kwargs), self.node_of)
        node = self.graph.create_node(op, target, args, kwargs)
        node.meta["stack_trace"] = self.stack_trace()
        self._note(node, result)
        return node

    def _note(self, node: Node, result: Any) -> None:
        if isinstance(result, Tensor):
            self.track(result, node)
            return
        node.meta["example_value"] = result
        if not isinstance(result, (tuple, list, dict)):
            return
        for key, element in result.items() if isinstance(result, dict) else enumerate(result):
            if has_tensors(element):
                part = self.graph.call_function(operator.getitem, (node, key))
                part.meta["stack_trace"] = node.meta["stack_trace"]
                self._note(part, element)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """A call that native code makes."""
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name == "__get__":  # of a property
            attribute = getattr(getattr(func, "__self__", None), "__name__", "")
            return self.call("read", getattr, (args[0], attribute), {}, lambda x, _: func(x, **kwargs))

        is_method = issubclass(Tensor, getattr(func, "__objclass__", ()))
        if is_method or getattr(Tensor, name, None) is func:
            return self.call("call_method", name, args, kwargs, func)
        return self.call("call_function", func, args, kwargs, func)


def _shown(target: Any) -> str:
    return target if isinstance(target, str) else getattr(target, "__name__", str(target))


class Input(Fields):
    """A tensor that the graph gets from outside, or a number that varies."""

    real: Any
    source: Source
    node: Node
    fake: Any


class Scope:
    """A graph and the nodes of its tensors. Of a graph inside of a node, tensors from outside become inputs
    (`tensors`, in their order), after its own."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.nodes: dict[int, tuple[Tensor, Node]] = {}
        self.tensors: list[Tensor] = []
        self.last_input: Node | None = None

    def placeholder(self, name: str) -> Node:
        """A placeholder whose parameter has a name of its own: they come before all other nodes, in the order
        in which they are made."""
        graph = self.graph
        last = self.last_input
        with graph.inserting_before() if last is None else graph.inserting_after(last):
            self.last_input = graph.placeholder(name)
        self.last_input.target = self.last_input.name
        return self.last_input

    def lift(self, tensor: Tensor) -> Node:
        node = self.placeholder("outside")
        self.nodes[id(tensor)] = tensor, node
        self.tensors.append(tensor)
        return node
