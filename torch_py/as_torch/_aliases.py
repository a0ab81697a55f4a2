"""Import hooks that give each module two names, such as `torch.nn` and `torch_py.nn`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.metadata import Distribution, DistributionFinder, PathDistribution
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import torch_py
from torch_py._pytorch_names.finder import NamesLoader

OWN = "torch_py"
ALIAS = "torch"


def alias_of(own: str) -> str:
    """Returns the alias of one of our names: torch.nn for torch_py.nn."""
    return ALIAS + own[len(OWN) :]


def own_name(alias: str) -> str:
    """Returns our name for an alias: torch_py.nn for torch.nn."""
    return OWN + alias[len(ALIAS) :]


def add_alias(name: str, module: ModuleType) -> None:
    """Adds `module`, which is sys.modules[name], to sys.modules under its alias."""
    sys.modules[alias_of(name)] = module


def claim_names(module: ModuleType) -> None:
    """Names a module and its own classes and functions torch.*, as they print and in pickles."""
    own = module.__name__
    if own.partition(".")[0] != OWN:
        return

    for value in list(vars(module).values()):
        if isinstance(value, (type, FunctionType)) and getattr(value, "__module__", None) == own:
            _rename(value, alias_of(own))
    module.__name__ = alias_of(own)


def claim_native_names(native: Any) -> None:
    """Names the types and operators of the native module torch.*, as they print and in pickles.

    Public ones become torch.dtype or torch.relu, all others torch._C.X.
    """
    for name, kind in vars(native).items():
        if isinstance(kind, type) and kind.__module__.partition(".")[0] == OWN:
            place = ALIAS if getattr(torch_py, name, None) is kind else alias_of(kind.__module__)
            _rename(kind, place)
            if kind.__module__ != place:
                native._rename_type(kind, f"{place}.{kind.__name__}")

    for space in [value for value in vars(native).values() if isinstance(value, ModuleType)]:
        add_alias(space.__name__, space)
        _claim_operators(space)


def _claim_operators(space: ModuleType) -> None:
    """Names the operators of a native submodule after the module that exports them."""
    short = space.__name__.rpartition("._")[2]
    # Both libraries find these operators in the public module.
    public = import_module(f"{OWN}.{short}") if short in ("linalg", "fft", "special") else None
    places = ((ALIAS, torch_py), (f"{ALIAS}.{short}", public), (alias_of(space.__name__), space))

    for name, operator in list(vars(space).items()):
        if not isinstance(operator, BuiltinFunctionType):
            continue

        exporters = (place for place, module in places if getattr(module, name, None) is operator)
        operator.__module__ = next(exporters)
        if public is not None:  # PyTorch's pickles name torch._C._linalg.linalg_inv
            vars(space).setdefault(f"{short}_{name}", operator)


def _rename(value: Any, name: str) -> None:
    try:
        value.__module__ = name
    except (AttributeError, TypeError):  # types of the native module, which cannot be written to
        pass


class _AliasLoader(Loader):
    """Loads torch.X by importing torch_py.X."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(own_name(spec.name))
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own_spec  # the import system has just written the alias over it


class _Claiming(Loader):
    """Mixin for loaders: enters torch_py.X in sys.modules under both names and claims its contents."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        add_alias(name, module)
        try:
            super().exec_module(module)
        except BaseException:
            sys.modules.pop(alias_of(name), None)
            raise
        claim_names(module)


class _ClaimingFileLoader(_Claiming, SourceFileLoader):
    """Loads a module from its file, under both names."""


class _ClaimingNamesLoader(_Claiming, NamesLoader):
    """Loads a module that a table of names defines, under both names."""


class AliasFinder(DistributionFinder):
    """Finds torch.* in torch_py, and the distribution `torch` in the folder `metadata`."""

    def __init__(self, metadata: Path) -> None:
        self._metadata = metadata

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root = fullname.partition(".")[0]
        if root == OWN:
            return self._own_spec(fullname, path, target)
        if root != ALIAS:
            return None

        own = sys.modules.get(own_name(fullname))
        if own is None:
            spec = self._own_spec(own_name(fullname), path, target)
        else:  # the native submodules have no specification
            spec = own.__spec__ or ModuleSpec(own_name(fullname), None)

        if spec is None:
            if fullname == ALIAS:
                return None
            # An installed PyTorch must not answer for what is missing here.
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)

        alias = ModuleSpec(
            fullname,
            _AliasLoader(),
            origin=spec.origin,
            is_package=spec.submodule_search_locations is not None,
        )
        alias.submodule_search_locations = spec.submodule_search_locations
        return alias

    def _own_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None:
            return None

        if type(spec.loader) is SourceFileLoader:
            spec.loader = _ClaimingFileLoader(fullname, spec.loader.path)
        elif type(spec.loader) is NamesLoader:
            spec.loader = _ClaimingNamesLoader(spec.loader.row)
        return spec

    def find_distributions(
        self,
        context: DistributionFinder.Context = DistributionFinder.Context(),  # noqa: B008
    ) -> Iterator[Distribution]:
        if context.name is None or context.name.lower() == ALIAS:
            for folder in self._folders():
                yield PathDistribution(folder)

    def _folders(self) -> Iterable[Path]:
        return self._metadata.glob("torch-*.dist-info")
