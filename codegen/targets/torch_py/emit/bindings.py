"""``torch_py/csrc/bindings/generated/<Topic>.cpp``: Python functions and methods of the operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from codegen.model import Operator, Program
from codegen.model.former_names import formerly
from codegen.remembered import remembered, remembered_by
from codegen.targets.torch_py.analysis.functions import Function, functions_of
from codegen.targets.torch_py.emit.notices import Notice, deprecation_of, renaming_of
from codegen.targets.torch_py.emit.parameters import (
    FastCall,
    Parameter,
    Parameters,
    fast_calls,
    parameters_of,
    signature_text,
)
from codegen.targets.torch_py.python_modules import PYTHON_MODULES

# python_module -> (owner as __torch_function__ knows it, enumerator of Module)
OWNERS = {word: (module.owner, module.enumerator) for word, module in PYTHON_MODULES.items()}
METHOD = ("Tensor", "Method")
_SPOKEN = {"Tensor": "torch.Tensor", **{module.owner: module.public for module in PYTHON_MODULES.values()}}


class Body(NamedTuple):
    """``call_add_Tensor``: from bound arguments to a Python result, for the function and the method alike."""

    function: Function
    out: Function | None
    parameters: Parameters

    @property
    def name(self) -> str:
        return f"call_{self.function.struct}"

    @property
    def arguments(self) -> list[Parameter]:
        """Parameters of the operator itself."""
        return [p for p in self.parameters if p.argument is not None]

    @property
    def tensors(self) -> list[str]:
        return [
            p.cpp_name for p in self.arguments if p.argument is not None and p.argument.type.is_tensor_like
        ]

    @property
    def measured(self) -> list[str]:
        """The arguments that tell how much work a call is: its tensors, or the sizes for a factory."""
        sizes = [p.cpp_name for p in self.arguments if p.kind == "IntList" and p.name == "size"]
        return self.tensors or (sizes if self.slot("requires_grad") >= 0 else [])

    @property
    def number_parameters(self) -> list[Parameter]:
        """The tensors of which one must not be a number; none where all may be, as in ``add(1, 2)``."""
        operator = self.function.operator
        if "only_numbers" in operator.tags or self.function.form == "inplace":
            return []
        tensors = [p for p in self.arguments if p.argument is not None and p.argument.type.is_tensor_like]
        return tensors if all(p.kind == "TensorOrNumber" for p in tensors) else []

    def slot(self, name: str) -> int:
        """The position of ``out`` or ``requires_grad``; -1 if the function lacks it."""
        return next((i for i, p in enumerate(self.parameters) if p.argument is None and p.name == name), -1)

    @property
    def notice(self) -> Notice | None:
        return deprecation_of(self.function.operator)

    @property
    def returns_list(self) -> bool:
        """Whether the result is the list that was passed, as in ``_foreach_add_(list, 1)``."""
        return self.function.operator.each is not None and self.function.form == "inplace"

    @property
    def return_type(self) -> str:
        """The name of the named tuple that is returned; empty if the results have no names."""
        names = [r.name for r in self.function.schema.returns]
        is_named = len(names) > 1 and all(names)
        return f"{self.function.struct}_results" if is_named else ""

    @property
    def return_fields(self) -> list[str]:
        return [f'"{r.name}"' for r in self.function.schema.returns]


class Overload(NamedTuple):
    """One signature of a callable."""

    body: Body
    text: str  # as error messages list it
    parameters: Parameters
    table: str  # name of the parameter table
    own_table: bool  # the table is not shared with the function's
    self_slot: int
    fast: tuple[FastCall, ...]
    # Of a deprecated signature: where each argument of the body is in this one; -1 where it is left out.
    order: tuple[int, ...] = ()


@dataclass(frozen=True)
class Callable:
    """A Python function, or a method of Tensor."""

    name: str
    owner: str
    module: str
    overloads: list[Overload] = field(default_factory=list)
    deprecated: list[Overload] = field(default_factory=list)  # tried last; messages do not list them
    notice: Notice | None = None  # of a former name

    @property
    def signatures(self) -> list[Overload]:
        return self.overloads + self.deprecated

    def replacement(self, deprecated: Overload) -> int:
        """The position of the signature that a deprecated one is short for."""
        return next(i for i, o in enumerate(self.overloads) if o.body is deprecated.body)

    @property
    def c_name(self) -> str:
        return f"{self.owner}_{self.name}"

    @property
    def is_method(self) -> bool:
        return self.module == "Method"

    @property
    def fast_by_count(self) -> list[tuple[int, list[tuple[Overload, FastCall]]]]:
        found: dict[int, list[tuple[Overload, FastCall]]] = {}
        for overload in self.overloads:
            for call in overload.fast:
                found.setdefault(call.count, []).append((overload, call))
        return sorted(found.items())


@dataclass
class Shard:
    """The contents of one generated file."""

    callables: list[Callable]
    bodies: list[Body]

    def modules(self) -> list[str]:
        return list(dict.fromkeys(c.module for c in self.callables))

    def of_module(self, module: str) -> list[Callable]:
        return [c for c in self.callables if c.module == module]

    @property
    def operators(self) -> list[Operator]:
        return [body.function.operator for body in self.bodies]

    @property
    def makes_new(self) -> bool:
        """Whether a function here creates tensors on the default device."""
        return any(p.is_of_new for b in self.bodies for p in b.parameters)

    @property
    def notices(self) -> list[Notice]:
        """Each once, though a function and its form in place share it."""
        found = [*(body.notice for body in self.bodies), *(c.notice for c in self.callables)]
        return list(dict.fromkeys(notice for notice in found if notice))


class _Place(NamedTuple):
    """Where Python finds a form of an operator."""

    owner: str
    module: str
    name: str
    is_inplace: bool
    is_method: bool


class Shards(Mapping[str, Shard]):
    """The shard of each topic that has one. All overloads of a callable belong to the topic of the first.

    A shard is large, and made when it is asked for.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._topics: dict[str, None] = {}
        # Of callables with overloads of several topics: the first topic, and what the others add to it.
        self._first: dict[tuple[str, str], str] = {}
        self._others: dict[str, dict[str, Operator]] = {}
        self._elsewhere: dict[str, set[str]] = {}
        self._made: dict[str, Shard] = {}
        self._find_topics()

    def _find_topics(self) -> None:
        first: dict[tuple[str, str], str] = {}
        for operator in self.program:
            for place in _places(operator, self.program.library):
                key = (place.owner, place.name)
                topic = first.setdefault(key, operator.topic)
                if topic == operator.topic:
                    self._topics[topic] = None
                else:
                    self._first[key] = topic
                    self._others.setdefault(topic, {})[operator.unambiguous_name] = operator
                    self._elsewhere.setdefault(operator.topic, set()).add(topic)

    def __iter__(self) -> Iterator[str]:
        return iter(self._topics)

    def __len__(self) -> int:
        return len(self._topics)

    def __contains__(self, topic: object) -> bool:
        return topic in self._topics

    def __getitem__(self, topic: str) -> Shard:
        if topic not in self._topics:
            raise KeyError(topic)
        if topic not in self._made:
            self._made[topic] = self._shard(topic)
        return self._made[topic]

    def forget(self, topic: str) -> None:
        self._made.pop(topic, None)

    def topics_in(self, topic: str) -> frozenset[str]:
        """The topics of the operators in a shard."""
        if topic not in self._topics:
            return frozenset()
        return frozenset({topic, *(operator.topic for operator in self._others.get(topic, {}).values())})

    def with_operators_of(self, topic: str) -> list[Shard]:
        """The shards that operators of a topic are in."""
        places = {topic, *self._elsewhere.get(topic, ())}
        return [self[name] for name in self._topics if name in places]

    def _shard(self, topic: str) -> Shard:
        library = self.program.library
        callables: dict[tuple[str, str], Callable] = {}
        for operator in (*self.program.topics[topic].operators, *self._others.get(topic, {}).values()):
            bodies: dict[bool, Body] = {}
            for place in _places(operator, library):
                key = (place.owner, place.name)
                if self._first.get(key, operator.topic) != topic:
                    continue
                if place.is_inplace not in bodies:
                    bodies[place.is_inplace] = _body(operator, place.is_inplace)
                overload = _overload(bodies[place.is_inplace], place.is_method)
                callable_ = callables.setdefault(key, Callable(place.name, place.owner, place.module))
                callable_.overloads.append(overload)
                callable_.deprecated.extend(_deprecated(overload))

        shard = Shard([], [])
        for callable_ in callables.values():
            # Overloads of list operators are declared by several entries, in any order.
            if callable_.overloads[0].body.function.operator.each is not None:
                callable_.overloads.sort(key=_numbers)
            shard.callables += [callable_, *_aliases(callable_), *_former(callable_)]
        shard.bodies = list({o.body.name: o.body for c in shard.callables for o in c.overloads}.values())
        return shard


def _numbers(overload: Overload) -> int:
    """The rank of an overload: one that takes numbers, which a 0-dimensional tensor may be, comes later.

    As in PyTorch, where ``_foreach_add(tensors, tensor(1.0))`` calls the overload for a number, and ``alpha``
    selects the one for a tensor.
    """
    parameters = overload.parameters
    count = sum(p.kind in ("Scalar", "ScalarList") for p in parameters if not p.is_keyword_only)
    takes_tensor = any(p.kind == "Tensor" for p in parameters)
    has_keywords = any(p.is_keyword_only for p in parameters)
    return count + (takes_tensor and has_keywords)


def _aliases(callable_: Callable) -> Iterator[Callable]:
    """The same overloads under other names; they share the tables of ``callable_``."""
    declared = dict.fromkeys(a for o in callable_.overloads for a in o.body.function.operator.aliases)
    is_inplace = callable_.overloads[0].body.function.form == "inplace"

    for alias in declared:
        place, _, name = alias.rpartition(".")
        if place and (is_inplace or callable_.is_method):
            continue

        name += "_" if is_inplace and not name.endswith("_") else ""
        owner, module = OWNERS[place] if place else (callable_.owner, callable_.module)
        renamed = [
            o._replace(text=signature_text(name, o.parameters, o.self_slot), own_table=False)
            for o in callable_.overloads
        ]
        yield Callable(name, owner, module, renamed)


def _former(callable_: Callable) -> Iterator[Callable]:
    """The overloads that had another name, under that name; each name warns once."""
    found: dict[tuple[str, str], Callable] = {}
    for overload in callable_.overloads:
        function = overload.body.function
        for rename, former in formerly(function.operator):
            # Of the forms, that of ``overload``.
            form = next(f for f in functions_of(former) if f.form == function.form)
            name = form.python_name
            owner, module = callable_.owner, callable_.module
            if module not in ("Method", "Library"):
                owner, module = OWNERS[former.python_module]
            if (owner, name) == (callable_.owner, callable_.name):
                continue  # the overload alone was renamed

            notice = renaming_of(_spoken(callable_.owner, callable_.name), _spoken(owner, name), rename)
            same = found.setdefault((owner, name), Callable(name, owner, module, notice=notice))
            text = signature_text(name, overload.parameters, overload.self_slot)
            same.overloads.append(overload._replace(text=text, own_table=False))
    yield from found.values()


def _spoken(owner: str, name: str) -> str:
    """``torch.linalg.det``, ``torch.Tensor.relu_``, ``my_ops.softcap``: what programs write."""
    return f"{_SPOKEN.get(owner, owner)}.{name}"


def _places(operator: Operator, library: str | None) -> Iterator[_Place]:
    """Where Python finds the forms of the operator.

    The private operators of a library, such as the gradients of its formulas, are in ``torch.ops`` alone.
    """
    if library and operator.python_module == "private" and operator.each is None:
        return

    owner, module = (library, "Library") if library else OWNERS[operator.python_module]
    if operator.is_function:
        yield _Place(owner, module, operator.python_name, False, False)
    if operator.is_method:
        yield _Place(*METHOD, operator.python_name, False, True)

    if operator.has_inplace:
        name = str(operator.schema.name.in_place().name).removeprefix(f"{operator.python_module}_")
        # In-place forms are methods only where the operator itself is a method.
        if operator.has_inplace_method:
            yield _Place(*METHOD, name, True, True)
        if operator.has_inplace_function:
            yield _Place(owner, module, name, True, False)


def _body(operator: Operator, is_inplace: bool) -> Body:
    declared = functions_of(operator)
    if is_inplace:
        function = next(f for f in declared[1:] if f.form == "inplace")
        return Body(function, None, parameters_of(operator, function, None))

    out = next((f for f in declared if f.form == "out" and operator.has_out), None)
    return Body(declared[0], out, parameters_of(operator, declared[0], out))


def _overload(body: Body, is_method: bool) -> Overload:
    parameters, self_slot = _of_method(body.parameters) if is_method else (body.parameters, -1)
    marked = _with_varargs(parameters, self_slot)

    # A method shares the table of the function where both take the same parameters.
    function = body.function
    is_alone = function.form == "inplace" or not function.operator.is_function
    own_table = is_method and (marked != parameters or is_alone)
    table = f"{function.struct}_{'method_' if own_table else ''}parameters"

    return Overload(
        body=body,
        text=signature_text(function.python_name, marked, self_slot),
        parameters=marked,
        table=table,
        own_table=own_table or not is_method,
        self_slot=self_slot,
        fast=fast_calls(marked, self_slot),
    )


@remembered
def _of_method(parameters: Parameters) -> tuple[Parameters, int]:
    """What a method takes, and the place of ``self``."""
    names = [p.argument.name if p.argument is not None else "" for p in parameters]
    return Parameters(p for p in parameters if "kOutput" not in p.flags), names.index("self")


def _deprecated(overload: Overload) -> Iterator[Overload]:
    """The signatures that take the arguments of ``overload`` by position, in an order of former times."""
    body = overload.body
    slots = {p.argument.spelling: p for p in overload.parameters if p.argument is not None}
    extra = [p for p in overload.parameters if p.argument is None]

    for number, order in enumerate(body.function.operator.deprecated_orders):
        listed = [slots[name] for name in order]
        parameters = Parameters([*(_positional(p) for p in listed), *extra])
        self_slot = order.index("self") if overload.self_slot >= 0 else -1
        places = {p.slot: i for i, p in enumerate((*listed, *extra))}

        yield overload._replace(
            text=signature_text(body.function.python_name, parameters, self_slot),
            parameters=parameters,
            table=f"{body.function.struct}_{'method_' if self_slot >= 0 else ''}deprecated{number}",
            own_table=True,
            self_slot=self_slot,
            fast=(),
            order=tuple(places.get(p.slot, -1) for p in overload.parameters),
        )


def _positional(parameter: Parameter) -> Parameter:
    """The same parameter without a default, before the ``*``."""
    flags = tuple(f for f in parameter.flags if f not in ("kOptional", "kKeywordOnly"))
    argument = parameter.argument
    return replace(parameter, flags=flags, argument=argument and replace(argument, default=None))


@remembered_by
def _with_varargs(parameters: Parameters, self_slot: int) -> Parameters:
    """``x.view(2, 3)``, ``zeros(2, 3)``: a list of ints that is the only positional argument."""
    positional = [i for i, p in enumerate(parameters) if i != self_slot and not p.is_keyword_only]
    if len(positional) != 1:
        return parameters
    only = positional[0]
    if parameters[only].kind != "IntList" or parameters[only].list_size:
        return parameters

    return Parameters(p.with_flag("kVarargs") if i == only else p for i, p in enumerate(parameters))


def unlocked(function: Function, names: Sequence[str], operands: Sequence[str]) -> str:
    """The call of ``function`` without the GIL.

    The C++ ``unlocked`` keeps the GIL where ``operands`` are so small that releasing it would cost more.
    """
    verb = "" if function.result == "void" else "return "
    call = f"at::ops::{function.struct}::call({', '.join(names)})"
    return f"unlocked({', '.join([f'[&] {{ {verb}{call}; }}', *operands])})"


def out_elements(out: Function) -> tuple[str, ...]:
    return tuple(f"out[{i}]" for i in range(len(out.out_names)))
