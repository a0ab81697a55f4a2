"""Reads a pickle from an untrusted source.

Note [What a file may do]: a pickle is a program. Here it may build plain values, and call what
`names.known_names` lists and what the user has allowed; it may change only objects that it has built itself.
The interpreter in Python is used instead of the one in C, because every instruction that calls, changes or
refers to something is checked below, and because a file must not make it reserve memory that the file does
not fill. Objects that the pickle has named may be stored anywhere in the result. The unpickler remembers
them by identity: only they can be called, and none of them can be changed.

Tested in tests/torch_py/_serialization/test_hostile_files.py.
"""

from __future__ import annotations

import pickle
import struct
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._serialization.budget import Budget, failure
from torch_py._serialization.names import as_torch, as_torch_py, known_names, public_object, with_storage_type
from torch_py._serialization.rebuild import (
    rebuild_from_type,
    rebuild_meta_tensor,
    rebuild_parameter,
    rebuild_tensor,
    rebuild_wrapper,
)
from torch_py._tensor import Tensor
from torch_py.storage import TypedStorage

# The objects that a program has allowed by add_safe_globals, by module and name.
safe_globals: dict[tuple[str, str], Any] = {}

_SIZED = (list, tuple, dict, set, frozenset, str, bytes, bytearray)
_CONSTRUCTORS = {set, frozenset, bytearray, OrderedDict, Counter, _C.Size}
_KEYED = (set, frozenset, OrderedDict, Counter)
_LONGEST_NUMBER = 1 << 16  # bytes; hashing a number as a key takes time
_RESULTS = (Tensor, TypedStorage, _C.UntypedStorage)
_LISTS = (list,)
_DICTS = (dict, OrderedDict, Counter)
_SETS = (set,)
# What files may not name, even if a program allows it.
_SYSTEM = ("sys", "os", "posix", "nt")
# Instructions that torch.save does not write: old-style instances, extension codes, and buffers outside of
# the pickle.
_FORBIDDEN = (
    pickle.INST,
    pickle.OBJ,
    pickle.EXT1,
    pickle.EXT2,
    pickle.EXT4,
    pickle.PERSID,
    pickle.NEXT_BUFFER,
    pickle.READONLY_BUFFER,
)


def _place_allowed_as(place: tuple[str, str]) -> tuple[str, str] | None:
    """The key in `safe_globals` of what a file calls `place`.

    A class that is defined in torch.nn.modules.linear is in torch.nn as well.
    """
    if place in safe_globals:
        return place

    module, name = place
    package = sys.modules.get(as_torch_py(module))
    for defined, value in safe_globals.items():
        if defined[1] == name and defined[0].startswith(f"{module}.") and vars(package).get(name) is value:
            return defined
    return None


class _WholeReads:
    """A file whose reads raise an error if they end early."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def read(self, size: int) -> bytes:
        """Exactly `size` bytes. Raises UnpicklingError at the end of the file."""
        data: bytes = self.file.read(size)
        if len(data) < size:
            raise failure(f"the pickle ends {size - len(data)} bytes early")
        return data

    def readline(self) -> bytes:
        """The next line."""
        line: bytes = self.file.readline()
        return line


class RestrictedUnpickler(pickle._Unpickler):
    """An unpickler that checks every instruction, see Note [What a file may do]."""

    dispatch: dict[int, Callable[[Any], None]] = dict(pickle._Unpickler.dispatch)
    stack: list[Any]
    append: Callable[[Any], None]
    read: Callable[[int], bytes]
    pop_mark: Callable[[], list[Any]]

    def __init__(self, file: Any, archive: Any, size: int) -> None:
        super().__init__(_WholeReads(file))
        self.archive = archive
        self.budget = Budget(size)
        self._named: dict[int, Any] = {}  # what the pickle has named, by identity
        self.storage_error: Exception | None = None  # an error of the archive or of map_location

    def persistent_load(self, identity: Any) -> Any:
        """The storage of a persistent id."""
        try:
            return self.archive.storage(with_storage_type(identity))
        except Exception as error:
            self.storage_error = error
            raise

    def find_class(self, module: str, name: str) -> Any:
        """The object of a name, if the file may use it."""
        value = self._allowed_object(module, name)
        if not isinstance(value, _plain_values()):
            self._named[id(value)] = value
        return value

    def _allowed_object(self, module: str, name: str) -> Any:
        """Raises UnpicklingError for a name that is neither known nor allowed by the user."""
        place = as_torch(module), name
        if module in _SYSTEM:
            raise failure(f"the file needs {module}.{name}; the module {module} is blocked, even if allowed")
        if (allowed := _place_allowed_as(place)) is not None:
            return safe_globals[allowed]
        if place in known_names():
            return public_object(known_names()[place])

        if module == "torch._utils" and name.startswith("_rebuild_"):
            raise failure(
                f"the file has a tensor that {name} makes: of a layout, a dtype or a device that this build "
                "does not have"
            )
        raise failure(
            f"the file needs {module}.{name}, which is not among what is loaded by default, as loading "
            "it can run code. If you trust the file, call torch.serialization.add_safe_globals with it, "
            "or load with weights_only=False."
        )

    def _is_named(self, value: Any) -> bool:
        """Whether `value` is an object that the pickle has named, rather than built."""
        return id(value) in self._named

    def _brief(self, value: Any) -> str:
        """Text for messages. An object that a pickle has built may print as more text than fits in memory."""
        if self._is_named(value) or (isinstance(value, (str, bytes)) and len(value) < 100):
            return repr(value)
        return f"an object of type {type(value).__name__}"

    # Calls

    def load_reduce(self) -> None:
        """Calls a function."""
        arguments = self.stack.pop()
        function = self.stack[-1]
        self.stack[-1] = self._call(function, arguments)

    dispatch[pickle.REDUCE[0]] = load_reduce

    def _call(self, function: Any, arguments: Any) -> Any:
        if not self._is_named(function) or type(arguments) is not tuple or not self._may_be_called(function):
            raise failure(f"the file tries to call {self._brief(function)}")

        if function in _CONSTRUCTORS and not all(type(argument) in _SIZED for argument in arguments):
            # bytearray(2**40) or set(range(2**40)) would take memory that the file does not have to fill.
            raise failure(
                f"the file tries to call {function!r} with "
                f"{', '.join(type(a).__name__ for a in arguments[:9])}"
            )

        self.budget.copy(argument for argument in arguments if type(argument) in _SIZED)
        if function is rebuild_from_type and not (arguments and self._is_rebuilder(arguments[0])):
            raise failure("the file tries to make a tensor of a type by something else than a tensor's parts")
        if function in _KEYED:
            for argument in arguments:
                self.budget.check_keys(argument)
                self.budget.check_keys(part for pair in argument if type(pair) is list for part in pair)

        return function(*arguments)

    @staticmethod
    def _may_be_called(value: Any) -> bool:
        """Whether the file may call `value`, which it has named.

        Types of tensors and storages may only be named as the types of results.
        """
        of_results = isinstance(value, type) and issubclass(value, _RESULTS)
        return callable(value) and (not of_results or value in safe_globals.values())

    def _is_rebuilder(self, function: Any) -> bool:
        return self._is_named(function) and (
            function in (rebuild_tensor, rebuild_meta_tensor, rebuild_parameter, rebuild_wrapper)
            or function in safe_globals.values()
        )

    def load_newobj(self) -> None:
        """Creates an instance."""
        arguments = self.stack.pop()
        self._make(self.stack.pop(), arguments, {})

    dispatch[pickle.NEWOBJ[0]] = load_newobj

    def load_newobj_ex(self) -> None:
        """Creates an instance, with keywords."""
        keywords = self.stack.pop()
        arguments = self.stack.pop()
        self._make(self.stack.pop(), arguments, keywords)

    dispatch[pickle.NEWOBJ_EX[0]] = load_newobj_ex

    def _make(self, kind: Any, arguments: Any, keywords: Any) -> None:
        if not self._is_named(kind):
            raise failure(f"the file tries to make an instance of {self._brief(kind)}")
        if kind in _CONSTRUCTORS and not keywords:
            self.append(self._call(kind, arguments))
            return
        if not isinstance(kind, type) or kind not in safe_globals.values():
            raise failure(f"the file tries to make an instance of {self._brief(kind)}")
        self.append(kind.__new__(kind, *arguments, **keywords))

    # Changes

    def load_build(self) -> None:
        """Sets an object's attributes."""
        state = self.stack.pop()
        target = self.stack[-1]
        self._check_built(target, "change")

        kind = type(target)
        if kind in (OrderedDict, Counter):
            vars(target).update(_attributes(state))
        elif _is_tensor(target):
            target.__setstate__(_attributes(state))
        elif kind in safe_globals.values():
            self.append(state)
            pickle._Unpickler.dispatch[pickle.BUILD[0]](self)
        else:
            raise failure(f"the file tries to change {self._brief(target)}")

    dispatch[pickle.BUILD[0]] = load_build

    def _check_built(self, target: Any, action: str, kinds: tuple[type, ...] = ()) -> None:
        """Raises UnpicklingError unless the pickle has built `target`, and its type is one of `kinds`."""
        if self._is_named(target) or (kinds and type(target) not in kinds):
            raise failure(f"the file tries to {action} {self._brief(target)}")

    def load_append(self) -> None:
        """Appends to a list."""
        value = self.stack.pop()
        self._check_built(self.stack[-1], "append to", _LISTS)
        self.stack[-1].append(value)

    dispatch[pickle.APPEND[0]] = load_append

    def load_appends(self) -> None:
        """Appends several values to a list."""
        items = self.pop_mark()
        self._check_built(self.stack[-1], "append to", _LISTS)
        self.stack[-1].extend(items)

    dispatch[pickle.APPENDS[0]] = load_appends

    def load_setitem(self) -> None:
        """Sets an item of a dict."""
        value = self.stack.pop()
        key = self.stack.pop()
        self._check_built(self.stack[-1], "set items of", _DICTS)
        self.budget.check_keys((key,))
        self.stack[-1][key] = value

    dispatch[pickle.SETITEM[0]] = load_setitem

    def load_setitems(self) -> None:
        """Sets several items of a dict."""
        items = self.pop_mark()
        self._check_built(self.stack[-1], "set items of", _DICTS)
        self.budget.check_keys(items[::2])
        for i in range(0, len(items), 2):
            self.stack[-1][items[i]] = items[i + 1]

    dispatch[pickle.SETITEMS[0]] = load_setitems

    def load_additems(self) -> None:
        """Adds values to a set."""
        items = self.pop_mark()
        self._check_built(self.stack[-1], "add to", _SETS)
        self.budget.check_keys(items)
        self.stack[-1].update(items)

    dispatch[pickle.ADDITEMS[0]] = load_additems

    # Values

    def load_dict(self) -> None:
        """Builds a dict."""
        items = self.pop_mark()
        self.budget.check_keys(items[::2])
        self.append({items[i]: items[i + 1] for i in range(0, len(items), 2)})

    dispatch[pickle.DICT[0]] = load_dict

    def load_frozenset(self) -> None:
        """Builds a frozenset."""
        items = self.pop_mark()
        self.budget.check_keys(items)
        self.append(frozenset(items))

    dispatch[pickle.FROZENSET[0]] = load_frozenset

    def load_bytearray8(self) -> None:
        """Reads a bytearray."""
        (length,) = struct.unpack("<Q", self.read(8))
        self.append(bytearray(self._bytes(length)))

    dispatch[pickle.BYTEARRAY8[0]] = load_bytearray8

    def load_long4(self) -> None:
        """Reads a large integer."""
        (length,) = struct.unpack("<i", self.read(4))
        if not 0 <= length <= _LONGEST_NUMBER:
            raise failure(f"the file has a number of {length} bytes; the limit is {_LONGEST_NUMBER}")
        self.append(int.from_bytes(self.read(length), "little", signed=True))

    dispatch[pickle.LONG4[0]] = load_long4

    def _bytes(self, length: int) -> bytes:
        """Reads bytes, without reserving memory that the file does not fill."""
        if length > self.budget.size:
            raise failure(f"the file announces {length} bytes and has {self.budget.size}")
        return self.read(length)


def _refuse(self: Any) -> None:
    raise failure("the file has an instruction that torch.save does not write")


RestrictedUnpickler.dispatch.update({code[0]: _refuse for code in _FORBIDDEN})


def _plain_values() -> tuple[type, ...]:
    return (_C.dtype, _C.layout, _C.memory_format)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def _attributes(state: Any) -> dict[str, Any]:
    if type(state) is not dict or not all(type(key) is str for key in state):
        raise failure("the file gives an object a state that is not a dict of attributes")
    return state


def load_restricted(file: Any, archive: Any, size: int) -> Any:
    """The value in `file`, which has `size` bytes.

    Raises pickle.UnpicklingError or RuntimeError for any error in the file.
    """
    unpickler = RestrictedUnpickler(file, archive, size)
    try:
        return unpickler.load()
    except (pickle.UnpicklingError, NotImplementedError):
        raise
    except Exception as error:
        if error is unpickler.storage_error or (
            isinstance(error, RuntimeError) and not isinstance(error, RecursionError)
        ):
            raise
        raise failure(f"the pickle is malformed: {type(error).__name__}: {str(error)[:200]}") from error
