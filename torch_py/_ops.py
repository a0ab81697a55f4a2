"""`torch.ops`: operators by namespace, those of torch_py under `aten`, those of programs under their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, cached_property
from types import ModuleType
from typing import Any, NoReturn

from torch_py import _C
from torch_py._contract import former_overloads, present_name
from torch_py._dispatch_keys import DispatchKey, keys_named
from torch_py._libraries import library_named
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._schemas import FunctionSchema, values_of
from torch_py._tags import Tag
from torch_py._tensor import Tensor


class OpOverload(_C._OperatorBase):  # type: ignore[misc]
    """One overload of an operator, ``torch.ops.aten.add.Tensor``. A call takes the arguments of its schema
    and goes through the dispatcher.

    There is one object for each overload, so operators can be compared with ``is`` and be keys of a dict.
    """

    __module__ = "torch._ops"
    # What fake tensors call in place of the operator: `torch.library.register_fake` sets it.
    _fake_rule: Callable[..., Any] | None = None
    # By class, in place of its __torch_dispatch__: `torch.library.register_torch_dispatch` sets it.
    _torch_dispatch_rules: dict[type, Callable[..., Any]] | None = None

    @cached_property
    def _schema(self) -> FunctionSchema:
        prefix = "" if "::" in self._entry_name else "aten::"
        return FunctionSchema(
            name=f"{self.namespace}::{self._opname}",
            overload_name=self._entry_name.partition(".")[2],
            arguments=values_of(self._schema_arguments),
            returns=values_of(self._schema_results),
            text=prefix + self._schema_text,
        )

    @cached_property
    def namespace(self) -> str:
        """ "aten", or that in which a program has declared the operator."""
        return self._entry_name.partition("::")[0] if "::" in self._entry_name else "aten"

    @cached_property
    def _opname(self) -> str:
        return str(self._entry_name.rpartition("::")[2].partition(".")[0])

    @cached_property
    def _overloadname(self) -> str:
        return self._entry_name.partition(".")[2] or "default"

    @property
    def __name__(self) -> str:
        return f"{self._opname}.{self._overloadname}"

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        """The operator with all its overloads."""
        return packet(self.namespace, self._opname)

    op = overloadpacket

    @cached_property
    def tags(self) -> list[Tag]:
        """What the entry is tagged with, "pointwise" or "reduction" for operators that are, and
        "nondeterministic_seeded" for those that take a generator of random numbers."""
        words = self._tag_words.split()
        if self._structure in ("pointwise", "reduction"):
            words.append(self._structure)
        if any(argument.type == "Generator?" for argument in self._schema.arguments):
            words.append("nondeterministic_seeded")
        return [Tag(word) for word in words if word in Tag]

    @property
    def is_view(self) -> bool:
        """Whether results share memory with arguments that are not written to."""
        return any(r.alias_info is not None and not r.is_write for r in self._schema.returns)

    def name(self) -> str:
        """``aten::add.Tensor``"""
        return self._entry_name if "::" in self._entry_name else f"aten::{self._entry_name}"

    def py_impl(self, key: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorates a function that serves a dispatch key of this operator."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            for one in keys_named(key) if isinstance(key, str) else (DispatchKey(key),):
                self._set_python_kernel(one, function)
            return function

        return register

    def _set_python_kernel(self, key: Any, function: Callable[..., Any] | None, *options: Any) -> None:
        super()._set_python_kernel(key, function, *options)
        if function is None:
            _python_kernels.discard((self, key))
        elif self.namespace == "aten":
            _python_kernels.add((self, key))

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.namespace}.{self._opname}', overload='{self._overloadname}')>"

    def __deepcopy__(self, memo: Any = None) -> OpOverload:
        return self

    __copy__ = __deepcopy__


_C._set_operator_class(OpOverload)
# Operators of torch_py that programs have given a function for a dispatch key.
_python_kernels: set[tuple[OpOverload, Any]] = set()


def has_python_kernels() -> bool:
    """Whether functions of Python are in the place of kernels of torch_py's own operators."""
    return bool(_python_kernels)


def find_operator(name: str) -> OpOverload | None:
    """The overload of an entry, ``add.Tensor`` or ``my_ops::softcap``, also by a former name; None if it does
    not exist."""
    found: OpOverload | None = _C._find_operator(name)
    if found is None:
        present = present_name(name)
        found = None if present is None else _C._find_operator(present)
    return found


def find_overload(name: str) -> OpOverload:
    """The same. Raises AttributeError for an unknown one."""
    found = find_operator(name)
    if found is None:
        raise AttributeError(f"torch_py has no operator '{name}'")
    return found


def _overloads_by_name() -> dict[str, tuple[str, ...]]:
    """The names of the overloads of every operator."""
    found: dict[str, tuple[str, ...]] = {}
    for entry in _C._operator_schemas():
        name, _, overload = entry.partition(".")
        found[name] = (*found.get(name, ()), overload or "default")
    return found


# Of torch_py's own operators, which stay; made on first use.
_own_overloads = cache(_overloads_by_name)


class OpOverloadPacket:
    """`torch.ops.aten.add`: an operator with all its overloads; `.Tensor`, `.default` name one of them. The
    arguments of a call choose the overload.
    """

    __module__ = "torch._ops"

    def __init__(self, namespace: str, name: str) -> None:
        self._namespace = namespace
        self._opname = self.__name__ = self.__qualname__ = name
        self._qualified_op_name = f"{namespace}::{name}"
        self._entry_name = name if namespace == "aten" else self._qualified_op_name
        self.__doc__ = getattr(self._function, "__doc__", None)

    @cached_property
    def _function(self) -> Callable[..., Any] | None:
        """The generated function of this name, which knows how to choose; None for an operator without."""
        if self._namespace != "aten":
            library = library_named(self._namespace)
            return None if library is None else getattr(library.module, self._opname, None)
        places = (_C._ops, _C._torch, _C._nn, _C._linalg, _C._special, _C._fft, Tensor)
        return next((getattr(place, self._opname) for place in places if hasattr(place, self._opname)), None)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if self._function is not None:
            return self._function(*arguments, **keywords)
        overloads = self.overloads()
        if len(overloads) == 1:
            return getattr(self, overloads[0])(*arguments, **keywords)

        problems = []
        for overload in overloads:
            try:
                return getattr(self, overload)(*arguments, **keywords)
            except RuntimeError as problem:
                problems.append(str(problem))
        if not problems:
            raise NotImplementedError(f"operator '{self._opname}' is not part of this build of torch_py")
        raise RuntimeError("\n".join(problems))

    def __str__(self) -> str:
        return f"{self._namespace}.{self._opname}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __getattr__(self, overload: str) -> Any:
        if not overload.startswith("__"):
            name = self._entry_name if overload == "default" else f"{self._entry_name}.{overload}"
            found = find_operator(name) or _alternative(self._entry_name, overload)
            if found is not None:
                self.__dict__[overload] = found
                return found
        raise AttributeError(f"The underlying op of '{self}' has no overload name '{overload}'")

    def overloads(self) -> list[str]:
        """The names of the overloads; "default" is the unnamed one."""
        every = _own_overloads() if self._namespace == "aten" else _overloads_by_name()
        return list(every.get(self._entry_name) or former_overloads(self._entry_name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.overloads())


# Libraries name these in tables of operators that they handle. They cannot be called here.
_ABSENT = frozenset(
    [
        "_pin_memory",
        "_sparse_addmm",
        "_sparse_mm_reduce_impl",
        "sym_size",
        "sym_stride",
        "sym_numel",
        "sym_storage_offset",
    ]
)


class AbsentOverload:
    """An overload of PyTorch's that torch_py lacks: a key for tables, but no function."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *arguments: object, **keywords: object) -> NoReturn:
        raise NotImplementedError(f"operator '{self.__name__}' is not part of this build of torch_py")

    def __repr__(self) -> str:
        return f"<AbsentOverload(op='aten.{self.__name__}')>"


def _alternative(name: str, overload: str) -> Any:
    """What takes the place of an overload of PyTorch's that torch_py lacks; None for other names."""
    return AbsentOverload(f"{name}.{overload}") if name in _ABSENT else None


_packets: dict[tuple[str, str], OpOverloadPacket] = {}


def packet(namespace: str, name: str) -> OpOverloadPacket:
    """`torch.ops.NAMESPACE.NAME`. Raises AttributeError for an unknown name."""
    known = _packets.get((namespace, name))
    if known is not None:
        return known

    found = OpOverloadPacket(namespace, name)
    is_absent = namespace == "aten" and name in _ABSENT
    if not found.overloads() and not is_absent and found._function is None:
        raise AttributeError(f"'_OpNamespace' '{namespace}' object has no attribute '{name}'")
    _packets[namespace, name] = found
    return found


def forget_packet(namespace: str, name: str) -> None:
    """Called when an overload of the operator appears or goes."""
    _packets.pop((namespace, name), None)
    if namespace in vars(ops):
        vars(vars(ops)[namespace]).pop(name, None)


class _OpNamespace(ModuleType):
    """`torch.ops.name`"""

    def __init__(self, name: str) -> None:
        super().__init__(f"torch.ops.{name}")
        self.name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = packet(self.name, name)
        setattr(self, name, found)  # printed graphs ask for it at every call; see `forget_packet`
        return found


class _Ops(ModuleType):
    """`torch.ops`"""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = _OpNamespace(name)
        setattr(self, name, namespace)
        return namespace

    def load_library(self, path: str) -> None:
        """Loads a shared library; operators written against PyTorch's C++ need PyTorch.

        Raises OSError when it cannot be loaded.
        """
        import ctypes  # few programs load libraries this way

        ctypes.CDLL(str(path))

    def import_module(self, module: str) -> None:
        import importlib

        importlib.import_module(module)


ops = _Ops("torch.ops")

__getattr__ = _lacking(__name__)
