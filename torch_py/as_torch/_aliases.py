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
TAKEN = "torch"


def taken_name(own: str) -> str:
    """torch_py.nn -> torch.nn"""
    return TAKEN + own[len(OWN) :]


def own_name(taken: str) -> str:
    """torch.nn -> torch_py.nn"""
    return OWN + taken[len(TAKEN) :]


def add_aliases(name: str, module: ModuleType) -> None:
    """Adds `module`, which is sys.modules[name], under its taken name."""
    sys.modules[taken_name(name)] = module


def claim_names(module: ModuleType) -> None:
    """Renames a module, its classes and functions to torch.*, as they print, as pickles name them, and as
    programs look for them."""
    own = module.__name__
    if own.partition(".")[0] != OWN:
        return
    for value in list(vars(module).values()):
        if isinstance(value, (type, FunctionType)) and getattr(value, "__module__", None) == own:
            _rename(value, taken_name(own))
    module.__name__ = taken_name(own)


def claim_native_names(native: Any) -> None:
    """torch_py._C.dtype and the like become torch.dtype, as types and in pickles, and operators torch.relu;
    the rest torch._C.X."""
    for name, kind in vars(native).items():
        if isinstance(kind, type) and kind.__module__.partition(".")[0] == OWN:
            place = TAKEN if getattr(torch_py, name, None) is kind else taken_name(kind.__module__)
            _rename(kind, place)
            if kind.__module__ != place:
                native._rename_type(kind, f"{place}.{kind.__name__}")
    for space in [value for value in vars(native).values() if isinstance(value, ModuleType)]:
        add_aliases(space.__name__, space)
        short = space.__name__.rpartition("._")[2]
        # Both libraries find these operators in the public module.
        public = import_module(f"{OWN}.{short}") if short in ("linalg", "fft", "special") else None
        for name, operator in list(vars(space).items()):
            if not isinstance(operator, BuiltinFunctionType):
                continue
            places = ((TAKEN, torch_py), (f"{TAKEN}.{short}", public), (taken_name(space.__name__), space))
            operator.__module__ = next(
                place for place, module in places if getattr(module, name, None) is operator
            )
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
    """Loads torch_py.X under both names: what the loaders below do in addition to loading."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        add_aliases(name, module)
        try:
            super().exec_module(module)
        except BaseException:
            sys.modules.pop(taken_name(name), None)
            raise
        claim_names(module)


class _ClaimingFileLoader(_Claiming, SourceFileLoader):
    """For modules that are files."""


class _ClaimingNamesLoader(_Claiming, NamesLoader):
    """For modules that are rows of a table."""


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
        if root != TAKEN:
            return None
        own = sys.modules.get(own_name(fullname))
        if own is None:
            spec = self._own_spec(own_name(fullname), path, target)
        else:  # modules that are not files have no specification
            spec = own.__spec__ or ModuleSpec(own_name(fullname), None)
        if spec is None:
            if fullname == TAKEN:
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
        if context.name is None or context.name.lower() == TAKEN:
            for folder in self._folders():
                yield PathDistribution(folder)

    def _folders(self) -> Iterable[Path]:
        return self._metadata.glob("torch-*.dist-info")
