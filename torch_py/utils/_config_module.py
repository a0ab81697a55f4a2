"""Modules of settings: variables that programs set, also for the length of a block."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import sys
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

__all__ = ["ConfigModule", "install_config_module"]


class ConfigModule(ModuleType):
    """A module of settings.

    Settings are its variables, and those of classes in it, which are named with a dot: ``triton.cudagraphs``.
    Setting a variable that the module, or the class, does not have raises AttributeError.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__dict__ and not name.startswith("_"):
            raise AttributeError(f"{self.__name__}.{name} does not exist")
        super().__setattr__(name, value)

    def patch(
        self, arg1: Any = None, arg2: Any = None, **kwargs: Any
    ) -> contextlib.AbstractContextManager[None]:
        """Sets values in a block, or during the calls of a function that it decorates.

            with config.patch(max_autotune=True): ...
            with config.patch({"triton.cudagraphs": True}): ...
            with config.patch("debug", True): ...

        Raises TypeError for other arguments, and AttributeError for unknown names.
        """
        if isinstance(arg1, str):
            changes = {arg1: arg2, **kwargs}
        elif arg1 is None or isinstance(arg1, Mapping):
            changes = {**(arg1 or {}), **kwargs}
        else:
            raise TypeError(f"patch() expects a name and a value, or a dict, got {type(arg1).__name__}")
        return self._patched(changes)

    @contextlib.contextmanager
    def _patched(self, changes: dict[str, Any]) -> Iterator[None]:
        before = {name: getattr(*self._place_of(name)) for name in changes}
        try:
            self._set_all(changes)
            yield
        finally:
            self._set_all(before)

    def _place_of(self, name: str) -> tuple[Any, str]:
        """The module, or the class in it, that has a setting, and its name there."""
        owner: Any = self
        *path, last = name.split(".")
        for part in path:
            owner = getattr(owner, part)
        return owner, last

    def _set_all(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            owner, last = self._place_of(name)
            setattr(owner, last, value)

    def get_config_copy(self) -> dict[str, Any]:
        """All settings by name; the values are copies."""
        return copy.deepcopy(dict(_settings_of(self, "")))

    def shallow_copy_dict(self) -> dict[str, Any]:
        """All settings by name."""
        return dict(_settings_of(self, ""))

    to_dict = shallow_copy_dict

    def _data(self) -> dict[str, Any]:
        """The settings that are not functions."""
        return {name: value for name, value in _settings_of(self, "") if not isinstance(value, FunctionType)}

    def save_config(self) -> bytes:
        """All settings but functions as a pickle, for `load_config`."""
        import pickle  # few programs save their settings

        return pickle.dumps(self._data())

    def load_config(self, maybe_pickled_config: bytes | Mapping[str, Any]) -> None:
        """Sets the values that `save_config` or `get_config_copy` has returned."""
        given = maybe_pickled_config
        if isinstance(given, bytes):
            import pickle  # as in save_config

            given = pickle.loads(given)
        self._set_all(given)

    def get_hash(self) -> bytes:
        """A digest of all settings but functions."""
        return hashlib.md5(repr(sorted(self._data().items())).encode()).digest()

    def codegen_config(self) -> str:
        """The settings, but functions, as statements of Python."""
        return "\n".join(f"{self.__name__}.{name} = {value!r}" for name, value in self._data().items())


class _Section(type):
    """The type of the classes in a ConfigModule."""

    def __setattr__(cls, name: str, value: Any) -> None:
        if not hasattr(cls, name):
            raise AttributeError(f"{cls.__module__}.{cls.__name__}.{name} does not exist")
        super().__setattr__(name, value)


def _settings_of(owner: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    module = owner.__name__ if isinstance(owner, ModuleType) else owner.__module__
    for name, value in sorted(vars(owner).items()):
        if name.startswith("__") or name == "_helpers" or isinstance(value, ModuleType):
            continue
        if isinstance(value, FunctionType) and name in getattr(owner, "_helpers", (name,)):
            continue
        if isinstance(value, type):
            if value.__module__ == module:
                yield from _settings_of(value, f"{prefix}{name}.")
            continue
        if type(value).__module__ != "__future__":
            yield f"{prefix}{name}", value


def install_config_module(module: ModuleType | str) -> None:
    """Makes a module, given itself or by its name in `sys.modules`, a ConfigModule."""
    found = sys.modules[module] if isinstance(module, str) else module
    # What is a function now is none of the settings; some of these may become functions.
    found.__dict__["_helpers"] = {n for n, value in vars(found).items() if isinstance(value, FunctionType)}
    for name, value in list(vars(found).items()):
        if type(value) is type and value.__module__ == found.__name__:
            values = {n: v for n, v in vars(value).items() if n not in ("__dict__", "__weakref__")}
            vars(found)[name] = _Section(name, value.__bases__, values)
    found.__class__ = ConfigModule
