"""The end of a capture as Python source: what to read, the call of the graph, the objects to make, the
writes."""

from __future__ import annotations

import collections
import enum
import functools
import operator
import re
import types
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from torch_py import _C
from torch_py._dynamo.attributes import TensorMethod
from torch_py._dynamo.breaks import Break
from torch_py._dynamo.frame import NULL, UNBOUND, Pending
from torch_py._dynamo.generator import InterpretedGenerator
from torch_py._dynamo.journal import ABSENT, Entry, Snapshot
from torch_py._dynamo.natives import Interpreted
from torch_py._dynamo.sources import Source
from torch_py._shapes.integers import VARYING
from torch_py._subclasses.fake_tensor import FakeTensor
from torch_py._tensor import Tensor
from torch_py.fx.node import Node

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture

_LITERALS = (int, str, bytes, bool, type(None))
# Objects that must not be made again if they existed before.
_MUTABLE = (list, dict, set, bytearray, collections.deque, BaseException)
# Iterators that tell, by __reduce__, how to make them again.
_ITERATOR_MODULES = ("builtins", "itertools", "_collections", "collections")


class Rebuild:
    """Writes expressions for the objects of a capture, and the statements that they need before."""

    def __init__(self, capture: Capture, name: str, parameters: list[str]) -> None:
        self.capture = capture
        self.parameters = parameters
        self.constants: dict[str, Any] = {}
        self.reads: list[str] = []
        self.builds: list[str] = []
        self.writes: list[str] = []
        self.outputs: dict[Node, str] = {}
        self._constant_names: dict[int, str] = {}
        self._taken: set[str] = {name, *parameters}
        self._source_names: dict[int, str] = {}
        self._made: dict[int, str] = {}
        self._open: set[int] = set()
        self._kept: list[Any] = []

    # Names

    def name(self, wish: str) -> str:
        stem = re.sub(r"\W+", "_", wish).strip("_") or "value"
        if stem[0].isdigit():
            stem = "_" + stem
        found, number = stem, 1
        while found in self._taken or found in _RESERVED:
            found, number = f"{stem}_{number}", number + 1
        self._taken.add(found)
        return found

    def constant(self, value: Any, wish: str = "constant") -> str:
        known = self._constant_names.get(id(value))
        if known is None:
            known = self.name(wish)
            self._constant_names[id(value)] = known
            self.constants[known] = value
        return known

    # Sources

    def source(self, source: Source) -> str:
        """The value of a source, read before the graph runs."""
        if source.kind == "argument":
            return self.parameters[source.key]
        if source.kind == "constant":
            return self.constant(source.key, _wish(source))
        known = self._source_names.get(id(source))
        if known is None:
            known = self.name(_wish(source))
            self.reads.append(f"{known} = {self._access(source)}")
            self._source_names[id(source)] = known
        return known

    def _access(self, source: Source) -> str:
        assert source.base is not None
        base = self.source(source.base)
        if source.kind == "attr":
            return f"{base}.{source.key}"
        if source.kind == "cell":
            return f"{base}.cell_contents"
        if source.kind == "type":
            return f"type({base})"
        return f"{base}[{self.value(source.key)}]"

    # Values

    def value(self, value: Any) -> str:
        """An expression for a value."""
        kind = type(value)
        if kind in _LITERALS:
            return repr(value)
        if kind is float and value == value and abs(value) != float("inf"):
            return repr(value)
        if isinstance(value, Tensor):
            return self._tensor(value)
        if kind in VARYING:
            return self.capture.varying.text_of(value.term, self.source)  # type: ignore[union-attr]

        known = self._made.get(id(value))
        if known is not None:
            return known
        if kind is Pending:
            return self.source(value.source)
        origin = self.capture.origin_of(value)
        if origin is not None:
            return self.source(origin)
        return self._new_object(value, kind)

    def _tensor(self, value: Tensor) -> str:
        recorder = self.capture.recorder
        known = recorder.input_of(value) if isinstance(value, FakeTensor) else recorder.inputs.get(id(value))
        if known is not None:
            return self.source(known.source)
        node = recorder.node_of(value)
        if node not in self.outputs:
            self.outputs[node] = self.name(node.name)
        return self.outputs[node]

    def _new_object(self, value: Any, kind: type) -> str:
        maker = _MAKERS.get(kind)
        if maker is None:
            maker = next((make for test, make in _MAKERS_BY_TEST if test(value, kind)), None)
        if maker is None:
            raise cannot_rebuild(value)

        if isinstance(value, _MUTABLE) and not self.capture.is_new(value):
            raise unknown_origin(value)
        if id(value) in self._open:
            return self._announce(value, kind)
        self._open.add(id(value))
        self._kept.append(value)
        try:
            return maker(self, value)
        finally:
            self._open.discard(id(value))

    def _announce(self, value: Any, kind: type) -> str:
        """A name for an object that refers to itself, which is filled later."""
        empty = _EMPTY.get(kind)
        if empty is None:
            raise Break(f"a {kind.__name__} that refers to itself", "it cannot be made again", "")
        known = self.name(kind.__name__.lower())
        self.builds.append(f"{known} = {empty}")
        self._made[id(value)] = known
        return known

    def finish(self, value: Any, expression: str, fill: str, wish: str) -> str:
        """Gives a new object a name. `fill` is the method that fills it if it was announced."""
        known = self._made.get(id(value))
        if known is None:
            known = self.name(wish)
            self.builds.append(f"{known} = {expression}")
            self._made[id(value)] = known
        elif fill:
            self.builds.append(f"{known}.{fill}({expression})")
        return known

    def declare(self, value: Any, expression: str, wish: str) -> str:
        """A name for a new object, before its parts are written."""
        known = self.name(wish)
        self._made[id(value)] = known
        self.builds.append(f"{known} = {expression}")
        return known

    # Writes

    def entry(self, entry: Entry, now: Any) -> None:
        """A statement that makes a changed place what it is at the end."""
        owner = self.value(entry.owner)
        if entry.kind == "key":
            key = self.value(entry.key)
            if entry.has_moved:
                self.writes.append(f"del {owner}[{key}]")
                if now is ABSENT:
                    return
            text = f"del {owner}[{key}]" if now is ABSENT else f"{owner}[{key}] = {self.value(now)}"
        elif entry.kind in ("slot", "class"):
            base = "object" if entry.kind == "slot" else "type"
            text = (
                f"{base}.__delattr__({owner}, {entry.key!r})"
                if now is ABSENT
                else f"{base}.__setattr__({owner}, {entry.key!r}, {self.value(now)})"
            )
        elif entry.kind == "cell":
            text = (
                f"del {owner}.cell_contents"
                if now is ABSENT
                else f"{owner}.cell_contents = {self.value(now)}"
            )
        else:
            self._contents(owner, entry.owner, now)
            return

        self.writes.append(text)

    def _contents(self, owner: str, container: Any, now: Snapshot) -> None:
        if isinstance(container, dict):
            items = ", ".join(f"({self.value(key)}, {self.value(item)})" for key, item in now.items)
            self.writes += [f"{owner}.clear()", f"{owner}.update([{items}])"]
            return
        items = ", ".join(self.value(item) for item, _ in now.items)
        if isinstance(container, list):
            self.writes.append(f"{owner}[:] = [{items}]")
        elif isinstance(container, set):
            self.writes += [f"{owner}.clear()", f"{owner}.update([{items}])"]
        else:
            self.writes += [f"{owner}.clear()", f"{owner}.extend([{items}])"]


_RESERVED = frozenset(
    "False None True and as assert async await break class continue def del elif else except "
    "finally for from "
    "global if import in is lambda nonlocal not or pass raise return try while with yield graph object type "
    "list dict set tuple frozenset iter getattr slice super".split()
)


def _wish(source: Source) -> str:
    text = re.sub(r"L\['(\w+)'\]", r"\1", source.text)
    return re.sub(r"\W+", "_", text).strip("_")[-40:] or "constant"


def unknown_origin(value: Any) -> Break:
    return Break(
        f"a {type(value).__name__} that outlives the graph",
        "it is not known whether it existed before, or was made by native code",
    )


def cannot_rebuild(value: Any) -> Break:
    return Break(
        f"a {type(value).__name__} that outlives the graph",
        "compiled code cannot make it again",
        "keep it inside of the compiled function, or make it outside",
    )


# Containers


def _items(rebuild: Rebuild, values: Any) -> str:
    return ", ".join([rebuild.value(item) for item in values])


def _tuple(rebuild: Rebuild, value: tuple[Any, ...]) -> str:
    items = _items(rebuild, value)
    return f"({items},)" if len(value) == 1 else f"({items})"


def _named_tuple(rebuild: Rebuild, value: Any) -> str:
    kind = rebuild.value(type(value))
    if hasattr(value, "_fields") and hasattr(type(value), "_make"):
        return f"{kind}._make({_tuple(rebuild, value)})"
    return f"{kind}({_tuple(rebuild, value)})"


def _list(rebuild: Rebuild, value: list[Any]) -> str:
    return rebuild.finish(value, f"[{_items(rebuild, value)}]", "extend", "items")


def _set(rebuild: Rebuild, value: Any) -> str:
    return rebuild.finish(value, f"{type(value).__name__}([{_items(rebuild, value)}])", "update", "items")


def _pairs(rebuild: Rebuild, value: dict[Any, Any]) -> str:
    return ", ".join([f"({rebuild.value(key)}, {rebuild.value(item)})" for key, item in value.items()])


def _dict(rebuild: Rebuild, value: dict[Any, Any]) -> str:
    entries = ", ".join([f"{rebuild.value(key)}: {rebuild.value(item)}" for key, item in value.items()])
    return rebuild.finish(value, "{" + entries + "}", "update", "entries")


def _ordered_dict(rebuild: Rebuild, value: Any) -> str:
    kind = rebuild.constant(type(value), type(value).__name__)
    return rebuild.finish(value, f"{kind}([{_pairs(rebuild, value)}])", "", "entries")


def _default_dict(rebuild: Rebuild, value: Any) -> str:
    kind = rebuild.constant(type(value), "defaultdict")
    factory = rebuild.value(value.default_factory)
    return rebuild.finish(value, f"{kind}({factory}, [{_pairs(rebuild, value)}])", "", "entries")


def _deque(rebuild: Rebuild, value: Any) -> str:
    kind = rebuild.constant(type(value), "deque")
    return rebuild.finish(value, f"{kind}([{_items(rebuild, value)}], {value.maxlen})", "", "items")


def _slice(rebuild: Rebuild, value: slice) -> str:
    return f"slice({_items(rebuild, (value.start, value.stop, value.step))})"


# Functions


def _function(rebuild: Rebuild, value: FunctionType) -> str:
    if not rebuild.capture.is_new(value):
        return rebuild.constant(value, value.__name__)
    made = rebuild.constant(FunctionType, "FunctionType")
    code = rebuild.constant(value.__code__, f"code_of_{value.__name__}")
    namespace = rebuild.constant(value.__globals__, "namespace")
    closure = [rebuild.value(cell) for cell in value.__closure__ or ()]
    cells = f"({', '.join(closure)},)" if closure else "None"
    defaults = rebuild.value(value.__defaults__)

    name = rebuild.declare(
        value, f"{made}({code}, {namespace}, {value.__name__!r}, {defaults}, {cells})", value.__name__
    )
    for field in ("__kwdefaults__", "__annotations__", "__qualname__", "__module__", "__doc__"):
        content = getattr(value, field)
        if content and (field != "__doc__" or content != (value.__code__.co_consts or (None,))[0]):
            rebuild.builds.append(f"{name}.{field} = {rebuild.value(content)}")
    if value.__dict__:
        rebuild.builds.append(f"{name}.__dict__.update({_dict(rebuild, dict(value.__dict__))})")
    return name


def _cell(rebuild: Rebuild, value: CellType) -> str:
    made = rebuild.constant(CellType, "CellType")
    name = rebuild.declare(value, f"{made}()", "cell")
    try:
        content = value.cell_contents
    except ValueError:
        return name
    rebuild.builds.append(f"{name}.cell_contents = {rebuild.value(content)}")
    return name


def _method(rebuild: Rebuild, value: MethodType) -> str:
    kind = rebuild.constant(MethodType, "MethodType")
    return f"{kind}({rebuild.value(value.__func__)}, {rebuild.value(value.__self__)})"


def _native_method(rebuild: Rebuild, value: Any) -> str:
    owner = value.__self__
    if owner is None or isinstance(owner, (ModuleType, type)):
        return rebuild.constant(value, value.__name__)
    return f"{rebuild.value(owner)}.{value.__name__}"


def _tensor_method(rebuild: Rebuild, value: TensorMethod) -> str:
    return f"{rebuild.value(value.__self__)}.{value.__name__}"


def _partial(rebuild: Rebuild, value: Any) -> str:
    kind = rebuild.constant(type(value), "partial")
    parts = [rebuild.value(value.func), *(rebuild.value(item) for item in value.args)]
    parts += [f"{name}={rebuild.value(item)}" for name, item in value.keywords.items()]
    return rebuild.finish(value, f"{kind}({', '.join(parts)})", "", "partial")


def _interpreted(rebuild: Rebuild, value: Interpreted) -> str:
    return rebuild.value(value.function)


def _super(rebuild: Rebuild, value: Any) -> str:
    return f"super({rebuild.value(value.__thisclass__)}, {rebuild.value(value.__self__)})"


# Objects of classes


def _instance(rebuild: Rebuild, value: Any) -> str:
    kind = type(value)
    cls = rebuild.value(kind)
    base = next(
        (base for base in (dict, list, set, tuple, str, int, float) if isinstance(value, base)), object
    )
    if base is not object:
        return _instance_of_builtin(rebuild, value, cls, base)
    name = rebuild.declare(value, f"object.__new__({cls})", kind.__name__.lower())
    _fields(rebuild, value, name)
    return name


def _instance_of_builtin(rebuild: Rebuild, value: Any, cls: str, base: type) -> str:
    if isinstance(value, collections.OrderedDict):
        # It has the order in addition to what a dict has.
        ordered = rebuild.constant(collections.OrderedDict, "OrderedDict")
        name = rebuild.declare(value, f"{ordered}.__new__({cls})", type(value).__name__.lower())
        for key, item in value.items():
            pair = f"{rebuild.value(key)}, {rebuild.value(item)}"
            rebuild.builds.append(f"{ordered}.__setitem__({name}, {pair})")
    elif base in (dict, list, set):
        name = rebuild.declare(value, f"{base.__name__}.__new__({cls})", type(value).__name__.lower())
        if base is dict:
            rebuild.builds.append(f"dict.update({name}, [{_pairs(rebuild, value)}])")
        else:
            verb = "extend" if base is list else "update"
            rebuild.builds.append(
                f"{base.__name__}.{verb}({name}, [{_items(rebuild, base.__iter__(value))}])"
            )
    else:
        plain = rebuild.value(base(value)) if base is not tuple else _tuple(rebuild, value)
        function = rebuild.constant(base.__new__, f"new_{base.__name__}")
        name = rebuild.declare(value, f"{function}({cls}, {plain})", type(value).__name__.lower())

    _fields(rebuild, value, name)
    return name


def _fields(rebuild: Rebuild, value: Any, name: str) -> None:
    fields = getattr(value, "__dict__", None)
    if fields:
        # The dictionary itself may be in use, too.
        rebuild._made[id(fields)] = f"{name}.__dict__"
        items = ", ".join([f"{key!r}: {rebuild.value(item)}" for key, item in fields.items()])
        rebuild.builds.append(f"{name}.__dict__.update({{{items}}})")
    for slot in _slots(type(value)):
        try:
            content = object.__getattribute__(value, slot)
        except AttributeError:
            continue
        rebuild.builds.append(f"object.__setattr__({name}, {slot!r}, {rebuild.value(content)})")


def _slots(kind: type) -> list[str]:
    found = []
    for base in kind.__mro__:
        for name, member in base.__dict__.items():
            if type(member) is types.MemberDescriptorType and base is not object:
                found.append(name)
    return found


def _exception(rebuild: Rebuild, value: BaseException) -> str:
    kind = type(value)
    cls = rebuild.value(kind)
    name = rebuild.declare(
        value, f"{cls}.__new__({', '.join([cls, *map(rebuild.value, value.args)])})", "error"
    )
    rebuild.builds.append(f"{name}.args = {rebuild.value(value.args)}")
    for field in ("__cause__", "__context__"):
        linked = getattr(value, field)
        if linked is not None and rebuild.capture.is_new(linked):
            rebuild.builds.append(f"{name}.{field} = {rebuild.value(linked)}")

    if value.__suppress_context__:
        rebuild.builds.append(f"{name}.__suppress_context__ = True")
    if value.__dict__:
        items = ", ".join([f"{key!r}: {rebuild.value(item)}" for key, item in value.__dict__.items()])
        rebuild.builds.append(f"{name}.__dict__.update({{{items}}})")
    return name


def _iterator(rebuild: Rebuild, value: Any) -> str:
    try:
        reduced = value.__reduce__()
    except TypeError:
        raise cannot_rebuild(value) from None
    function, args, *state = reduced
    maker = rebuild.constant(function, getattr(function, "__name__", "make"))
    expression = f"{maker}({_items(rebuild, args)})"
    name = rebuild.declare(value, expression, "iterator")
    if state and state[0] is not None:
        rebuild.builds.append(f"{name}.__setstate__({rebuild.value(state[0])})")
    return name


def _as_constant(rebuild: Rebuild, value: Any) -> str:
    if isinstance(value, type) and rebuild.capture.is_new(value):
        raise cannot_rebuild(value)
    return rebuild.constant(value, getattr(value, "__name__", type(value).__name__).lower())


def _refuse(rebuild: Rebuild, value: Any) -> str:
    raise cannot_rebuild(value)


def _refuse_generator(rebuild: Rebuild, value: InterpretedGenerator) -> str:
    reason = cannot_rebuild(value)
    reason.made_at = value.made_at  # type: ignore[attr-defined]
    raise reason


_EMPTY: dict[type, str] = {list: "[]", dict: "{}", set: "set()"}

_MAKERS: dict[type, Callable[[Rebuild, Any], str]] = {
    tuple: _tuple,
    list: _list,
    dict: _dict,
    set: _set,
    frozenset: _set,
    collections.OrderedDict: _ordered_dict,
    collections.Counter: _ordered_dict,
    collections.defaultdict: _default_dict,
    collections.deque: _deque,
    slice: _slice,
    FunctionType: _function,
    CellType: _cell,
    MethodType: _method,
    BuiltinFunctionType: _native_method,
    types.MethodWrapperType: _native_method,
    TensorMethod: _tensor_method,
    functools.partial: _partial,
    Interpreted: _interpreted,
    super: _super,
    InterpretedGenerator: _refuse_generator,
    type(NULL): lambda rebuild, value: "NULL",
    type(UNBOUND): lambda rebuild, value: "UNBOUND",
    type(ABSENT): _refuse,
    _C.Size: _as_constant,
    float: _as_constant,
    complex: _as_constant,
    range: _as_constant,
    operator.itemgetter: _iterator,
    operator.attrgetter: _iterator,
    operator.methodcaller: _iterator,
    bytearray: _refuse,
}


def _is_constant(value: Any, kind: type) -> bool:
    if isinstance(value, type):
        return True

    return isinstance(value, (ModuleType, enum.Enum)) or kind in (
        _C.dtype,
        _C.device,
        _C.layout,
        _C.memory_format,
        type(Ellipsis),
        type(NotImplemented),
        types.CodeType,
        types.GenericAlias,
        types.MethodDescriptorType,
        types.WrapperDescriptorType,
        re.Pattern,
    )


def _is_iterator(value: Any, kind: type) -> bool:
    return hasattr(kind, "__next__") and kind.__module__ in _ITERATOR_MODULES and hasattr(kind, "__reduce__")


def _is_instance(value: Any, kind: type) -> bool:
    return kind.__flags__ & (1 << 9) != 0 and not issubclass(
        kind, (Tensor, type)
    )  # made by a class statement


_MAKERS_BY_TEST: tuple[tuple[Callable[[Any, type], bool], Callable[[Rebuild, Any], str]], ...] = (
    (_is_constant, _as_constant),
    (lambda value, kind: isinstance(value, BaseException), _exception),
    (lambda value, kind: isinstance(value, tuple), _named_tuple),
    (_is_iterator, _iterator),
    (_is_instance, _instance),
)
