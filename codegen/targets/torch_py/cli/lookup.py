"""Finds the operators that a person means by a name: of the YAML file, of C++, or of Python."""

from __future__ import annotations

import re

from codegen.diagnostics import did_you_mean
from codegen.model import Operator, Program
from codegen.targets.torch_py.python_modules import PREFIXED

# What precedes a Python name, and the module that it stands for.
_PLACES = {
    "nn.functional": "nn",
    "functional": "nn",
    "Tensor": "torch",
    **{module: module for module in ("nn", *PREFIXED)},
}
_PREFIX = re.compile(r"^(?:(?:torch|torch_py|at|aten|ops|F)(?:\.|::))*")


def operators_called(program: Program, text: str) -> tuple[Operator, ...]:
    """One overload by its full name, or all overloads of a name; a form in place, an alias or a Python name
    finds the entry that it comes from."""
    name = _PREFIX.sub("", text)
    module, _, last = name.rpartition(".")
    for known in (program, *([program.base] if program.base else [])):
        found = _declared(known, name) or _in_python(known, _PLACES.get(module), last if module else name)
        if found:
            return found
    return ()


def _declared(program: Program, name: str) -> tuple[Operator, ...]:
    exact = [o for o in program if name in (o.name, o.unambiguous_name) and o.schema.overload_name]
    if exact:
        return tuple(exact)
    for candidate in _forms(name):
        if program.by_base_name(candidate):
            return program.by_base_name(candidate)
    return ()


def _in_python(program: Program, module: str | None, name: str) -> tuple[Operator, ...]:
    """By the name of a function of `module`, of any if that is None, or by an alias."""
    for candidate in _forms(name):
        named = [o for o in program if o.python_name == candidate and o.python_module == module]
        aliased = [o for o in program if _has_alias(o, module, candidate)]
        elsewhere = program.by_base_name(candidate) if module in ("torch", "nn") else ()
        if named or aliased or elsewhere:
            return tuple(named or aliased or elsewhere)
    return ()


def _has_alias(operator: Operator, module: str | None, name: str) -> bool:
    return any(
        alias == name or (module is not None and alias == f"{module}.{name}") for alias in operator.aliases
    )


def _forms(name: str) -> tuple[str, ...]:
    return name, name.removesuffix("_"), name.removesuffix("_out")


def overloads_of(program: Program, text: str) -> tuple[Operator, ...]:
    """Of a name with an overload that is not here, such as PyTorch's sum.dim_IntList: those that are."""
    base, _, overload = _PREFIX.sub("", text).partition(".")
    return program.by_base_name(base) if overload and base not in _PLACES else ()


def not_found(program: Program, text: str) -> str:
    """What to say about a name that nothing has: a name like it."""
    name = _PREFIX.sub("", text)
    spoken = sorted({*program.base_names(), *(alias for o in program for alias in o.aliases)})
    near = did_you_mean(name, spoken)
    hint = near if near.startswith("did you mean") else "python -m codegen counts lists all operators"
    return f"no operator '{text}'; {hint}"
