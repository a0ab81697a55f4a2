"""`Recorder`: the operators that a program calls on fake tensors, as nodes of a graph."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from torch_py import _C
from torch_py._functorch.aot.nodes import is_random, requiring
from torch_py._functorch.aot.recipes import METADATA, NO_GRAD, STEP, Unsupported  # for all who record
from torch_py._ops import ops
from torch_py._shapes.arguments import are_dense, reach
from torch_py._subclasses.calls import generator_in, map_tensors, memory_of
from torch_py._subclasses.converter import FakeTensorConverter
from torch_py._subclasses.fake_tensor import CONSTANT_NUMEL_LIMIT, FakeTensor, FakeTensorMode
from torch_py._subclasses.unseen import unseen
from torch_py._tags import Tag
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.autograd.grad_mode import enable_grad, inference_mode
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node
from torch_py.nn.modules.module import Module
from torch_py.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch_py.utils._pytree import tree_map

Decompositions = Mapping[Any, Callable[..., Any]] | None
# ``program(recorder, arguments)`` returns a list of results.
Program = Callable[["Recorder", list[Any]], list[Any]]


class Recorder(TorchDispatchMode):
    """Adds each call to its `graph` and gives what it would, as fake tensors of `fake_mode`.

    ``node.meta["val"]`` is a fake tensor of the result, which later changes do not reach. Tensors that are
    neither inputs nor results are constants: numbers that the program has created, which become attributes
    of its `root`.
    """

    _sees_allocations = True

    def __init__(self, fake_mode: FakeTensorMode, decompositions: Decompositions) -> None:
        super().__init__()
        self.graph = Graph()
        self.root = Module()
        self.fake_mode = fake_mode
        self.decompositions = decompositions or {}
        # What is added to the `meta` of new nodes: where the program is.
        self.context: dict[str, Any] = {}
        self.notes_steps = False
        self._memory = FakeTensorConverter()

        # The tensors, by identity: they are kept, so that no other takes the address. A result that is one of
        # several has its position until something uses it.
        self._known: dict[int, tuple[Tensor, Node, int | None]] = {}
        self._tensors: dict[Node, Tensor] = {}
        self._places: dict[Any, tuple[Node, int | None]] = {}
        self._unplaced: list[int] = []
        self._named: set[Node] = set()
        self.draws = Draws()

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    @contextmanager
    def running(self) -> Iterator[None]:
        """Calls inside the block are recorded."""
        with DisableTorchFunctionSubclass(), self.fake_mode, self:
            yield

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Calls inside the block give fake tensors without being recorded."""
        with _disable_current_modes(), self.fake_mode:
            yield

    # Inputs
    # ------------------------------------------------------------

    def input(self, name: str, tensor: Tensor) -> tuple[FakeTensor, Any]:
        """Adds a placeholder. Returns what to differentiate by, and what to give to the program in its place.

        Inputs that share memory do so as fake tensors. An input that is not a leaf comes as the result of
        an identity, which it may change in place.
        """
        node = self.graph.placeholder(name)
        with inference_mode(tensor.is_inference()):  # whatever the mode of the call
            with unseen():
                twin = self._memory.twin_of(tensor)
            fake = self.fake_mode._wrap(twin, tensor.device)
            if tensor._is_view() and tensor.is_leaf and not tensor._base.requires_grad:
                # Views of it that are taken without grad mode are views of its base alone.
                with self.fake_mode:
                    fake = fake.view_as(fake)  # type: ignore[assignment]
            fake.requires_grad_(tensor.requires_grad)
            node.meta["val"] = self._value(twin, tensor.device)
            self._track(fake, node)
            if tensor.is_leaf:
                return fake, fake

            with self.fake_mode, enable_grad():
                given: Any = fake.clone()
            given._twin = twin
            given._take_geometry(twin)
            self._track(given, node)
            return fake, given

    def tangent(self, name: str, output: Any) -> FakeTensor:
        """Adds a placeholder for the gradient of `output`."""
        # With the strides of the output if they leave no gaps.
        with unseen():
            twin = _C._torch.empty_like(output._twin.detach())
        fake = self.fake_mode._wrap(twin, output.device)
        node = self.graph.placeholder(name)
        node.meta.update(self.context)
        node.meta["val"] = self._value(twin, output.device)
        self._track(fake, node)
        return fake

    def _value(self, twin: Tensor, device: Any) -> FakeTensor:
        return FakeTensor(self.fake_mode, twin, device)

    # Calls
    # ------------------------------------------------------------

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        decomposition = self.decompositions.get(func) or self.decompositions.get(func.overloadpacket)
        if decomposition is not None:
            with self:
                return decomposition(*args, **kwargs)

        # What is recorded as something else.
        if func is ops.aten.resize_as_.default:
            with self:
                return ops.aten.resize_.default(args[0], args[1].shape, **kwargs)
        if func is ops.aten.empty_strided.default and not are_dense(*args[:2]):
            return self._with_gaps(*args, **kwargs)
        if Tag.inplace_view in func.tags:
            return self._changed_metadata(func, args, kwargs)
        if func.overloadpacket in (ops.aten.set_, ops.aten.resize_):
            with unseen():  # the node of the argument keeps the size and memory of before
                args[0]._twin = args[0]._twin.detach()

        return self._drawn(func, args, kwargs) if is_random(func) else self._recorded(func, args, kwargs)

    def _recorded(self, func: Any, args: Any, kwargs: Any) -> Any:
        node_args = tuple([map_tensors(value, self.node_of) for value in args])
        node_kwargs = {name: map_tensors(value, self.node_of) for name, value in kwargs.items()}
        result = self.fake_mode._call(func, args, kwargs)
        asked = self._asked_for(func, args, kwargs, result) if isinstance(result, tuple) else ()
        self._note(self._call(requiring(func, asked) if asked else func, node_args, node_kwargs), result)
        return result

    def _asked_for(self, func: Any, args: Any, kwargs: Any, result: Any) -> tuple[int, ...]:
        """The arguments that require gradients, if the results depend on that: operators of backward compute
        only those gradients that are wanted."""
        tensors = [(i, value) for i, value in enumerate(args) if isinstance(value, Tensor)]
        flagged = tuple(i for i, tensor in tensors if tensor.requires_grad)
        if not flagged:
            return ()

        def without(fake: Any) -> Any:
            return fake._twin.detach()

        with unseen():
            named = {name: map_tensors(value, without) for name, value in kwargs.items()}
            plain = func(*[map_tensors(value, without) for value in args], **named)
        return flagged if _shapes(plain) != _shapes(result) else ()

    def _call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Node:
        node = self.graph.call_function(func, args, kwargs, name=getattr(func, "_opname", None))
        node.meta.update(self.context)
        if self.notes_steps:
            node.meta[STEP] = _C._outermost_backward_node()
        if func.is_view and not _C.is_grad_enabled():
            node.meta[NO_GRAD] = True
        return node

    def _note(self, node: Node, result: Any) -> None:
        node.meta["val"] = map_tensors(result, lambda tensor: self._value(tensor._twin, tensor.device))
        if isinstance(result, Tensor):
            self._track(result, node)

        for position, element in enumerate(result if isinstance(result, (tuple, list)) else ()):
            if isinstance(element, Tensor):
                self._track(element, node, position)
            elif isinstance(element, (tuple, list)):
                self._note(self.graph.call_function(operator.getitem, (node, position)), element)

    def _changed_metadata(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Records an operator such as `t_` as the view that it turns its argument into."""
        tensor = args[0]
        view = view_of_metadata_change(func)
        node = self._call(view, (self.node_of(tensor), *args[1:]), kwargs)
        node.meta[METADATA] = func

        with unseen():
            tensor._twin = tensor._twin.detach()
        result = self.fake_mode._call(func, args, kwargs)
        self._note(node, tensor)
        return result

    def _with_gaps(self, size: Any, stride: Any, **options: Any) -> Any:
        """Memory with gaps as a view of memory without: values have none."""
        with self:
            memory: Any = ops.aten.empty_strided.default([reach(size, stride)], [1], **options)
            return memory.as_strided(size, stride)

    def _drawn(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Records random numbers; those of an equal draw if the program has set the generator back."""
        drawn = self.draws.repeated(func, args, kwargs)
        if drawn is None:
            result = self._recorded(func, args, kwargs)
            node = self.node_of(result) if isinstance(result, Tensor) else None
            self.draws.note(func, args, kwargs, node)
            return result
        if not isinstance(drawn, Node):
            raise Unsupported(f"the program draws random numbers again with {func}")

        copy = self._copy_when_made(drawn)
        with self:
            return args[0].copy_(copy) if func._schema.is_mutable else copy.clone()

    def _copy_when_made(self, node: Node) -> Any:
        """A copy of what a node computes, made directly after it."""
        with self.paused():
            copy = node.meta["val"].clone()
        with self.graph.inserting_after(node):
            copied = self.graph.call_function(ops.aten.clone.default, (node,))
        copied.meta.update(node.meta)
        copied.meta["val"] = self._value(copy._twin, copy.device)
        self._track(copy, copied)
        return copy

    # Which node computes a tensor
    # ------------------------------------------------------------

    def node_of(self, tensor: Any) -> Node:
        """The node of a tensor."""
        found = self._known.get(id(tensor))
        if found is not None and found[0] is tensor:
            return self._element(found[1], found[2], tensor)
        at_place = self._at_place(tensor)
        return self._constant(tensor) if at_place is None else self._element(*at_place, tensor)

    def name(self, tensor: Any, name: str) -> None:
        """Gives the node of a tensor a name, unless it has one by an input or an earlier call of this."""
        found = self._known.get(id(tensor))
        if found is None or found[2] is not None or found[1] in self._named or found[1].op == "placeholder":
            return
        self._named.add(found[1])
        found[1]._rename(name)

    def tensor_of(self, node: Node) -> Any:
        """The tensor that a node has computed, with its history."""
        return self._tensors[node]

    def _track(self, tensor: Any, node: Node, position: int | None = None) -> None:
        self._known[id(tensor)] = tensor, node, position
        if position is None:
            self._tensors[node] = tensor
        self._unplaced.append(id(tensor))

    def _element(self, node: Node, position: int | None, tensor: Any) -> Node:
        if position is None:
            return node
        with self.graph.inserting_after(node):
            element = self.graph.call_function(operator.getitem, (node, position))
        element.meta.update({name: fact for name, fact in node.meta.items() if name != "val"})
        element.meta["val"] = node.meta["val"][position]

        self._track(tensor, element)
        return element

    def _at_place(self, tensor: Any) -> tuple[Node, int | None] | None:
        """The node of a tensor that reads the same memory in the same way: hooks and saved tensors are
        copies of the objects that the program has."""
        for key in self._unplaced:
            known, node, position = self._known[key]
            if isinstance(known, FakeTensor):
                self._places.setdefault(place_of(known), (node, position))
        self._unplaced.clear()
        return self._places.get(place_of(tensor)) if isinstance(tensor, FakeTensor) else None

    def _constant(self, tensor: Any) -> Node:
        constant = tensor.constant if isinstance(tensor, FakeTensor) else tensor
        if constant is None:
            origin = "is neither an input of the program nor made by it"
            raise RuntimeError(f"ahead-of-time autograd: {tensor} {origin}")
        if constant.requires_grad:
            raise RuntimeError(
                "ahead-of-time autograd: the program uses a tensor that requires a gradient and is "
                f"not one of its inputs: shape {tuple(constant.shape)}, {constant.dtype}; make it an argument"
            )

        name = f"_tensor_constant{len(list(self.root.buffers()))}"
        with unseen():
            # Single numbers are known to fake tensors, which change them as the program does.
            is_known = constant.numel() <= CONSTANT_NUMEL_LIMIT
            self.root.register_buffer(name, constant.clone() if is_known else constant.detach())
        node = self.graph.get_attr(name)
        node.meta.update(self.context)
        node.meta["val"] = self.fake_mode.from_tensor(constant)
        self._track(tensor, node)
        return node


def _shapes(values: Any) -> list[Any]:
    return [tuple(value.shape) if isinstance(value, Tensor) else None for value in values]


def place_of(tensor: Any) -> Any:
    """Where a fake tensor is in memory, and how it reads it."""
    twin = tensor._twin
    return memory_of(tensor), twin.storage_offset(), twin.shape, twin.stride(), twin.dtype


@cache
def view_of_metadata_change(func: Any) -> Any:
    """The operator that returns the view which `func` turns its argument into."""
    base, _, overload = func._entry_name.partition(".")
    for name in (base.rstrip("_") + (f".{overload}" if overload else ""), base.rstrip("_") + ".int"):
        found = _C._find_operator(name)
        if found is not None and not found._schema.is_mutable and found.is_view:
            return found
    raise Unsupported(f"{func} changes the shape of a tensor in place")


# Random numbers
# ------------------------------------------------------------


class Draws:
    """The random operators of a program so far. `restore` gives the generators back their states.

    Some draw the same numbers again: checkpoint sets the generator back before it computes again. Fake
    tensors draw nothing, so each random operator moves its generator on by hand: the state of the generator
    then tells which draw is a repetition.
    """

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Any, Any]] = {}
        self._before: dict[Any, Any] = {}  # the states at first, by generator

    def repeated(self, func: Any, args: Any, kwargs: Any) -> Any:
        """What was noted of an equal draw from the same state of the generator; None for a new draw."""
        generator, key = _draw_of(func, args, kwargs)
        known = self._known.get(key)
        if known is None:
            return None
        with unseen():
            generator.set_state(known[1])
        return known[0]

    def note(self, func: Any, args: Any, kwargs: Any, fact: Any) -> None:
        """Remembers a fact of a new draw, and moves its generator on."""
        generator, key = _draw_of(func, args, kwargs)
        with unseen():
            self._before.setdefault(generator, generator.get_state())
            _C._torch.rand(1, generator=generator, device=generator.device)
            self._known[key] = fact or False, generator.get_state()

    def restore(self) -> None:
        with unseen():
            for generator, state in self._before.items():
                generator.set_state(state)


def _draw_of(func: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The generator of a call, and what equal draws from the same state of it have in common."""

    def described(value: Any) -> Any:
        return (value.shape, value.stride(), value.dtype) if isinstance(value, Tensor) else str(value)

    generator = generator_in(args, kwargs) or _C.default_generator
    with unseen():
        state = generator.get_state().numpy().tobytes()
    rest = tree_map(described, [list(args), sorted(kwargs.items())])
    return generator, (id(generator), state, func, str(rest))
