"""Generators of arguments that serve many operators, by the names that `samples:` of entries use."""

import importlib
import pkgutil

# Every file of this folder registers what it declares, so that a new one needs no other edit.
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
