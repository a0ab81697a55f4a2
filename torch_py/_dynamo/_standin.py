"""GuardProgram and CompiledFunction in Python, until the native ones are there."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import torch_py
from torch_py import _C


def facts(t: Any) -> Any:
    return (type(t), t.dtype, t.device, t.layout, t.requires_grad, tuple(t.shape), tuple(t.stride()))


class GuardProgram:
    def __init__(self, rows: Any, registers: int) -> None:
        self.rows = rows
        self.registers = registers

    def check(self, args: Any) -> str | None:
        r = list(args) + [None] * self.registers
        return self._run(self.rows, r)

    def _run(self, rows: Any, r: list[Any]) -> str | None:
        for row in rows:
            k = row[0]
            try:
                if k == "const":
                    r[row[1]] = row[2]
                elif k == "attr":
                    r[row[1]] = getattr(r[row[2]], row[3])
                elif k in ("item", "key"):
                    r[row[1]] = r[row[2]][row[3]]
                elif k == "cell":
                    r[row[1]] = r[row[2]].cell_contents
                elif k == "type":
                    r[row[1]] = type(r[row[2]])
                elif k == "watched":
                    found = self._run(row[2], r)
                    if found:
                        return found
                elif not self._passes(k, r, row):
                    return f"{row[-1]}: {k} {row[2:-1]}"
            except (AttributeError, KeyError, IndexError, ValueError, TypeError) as e:
                return f"{row}: {e!r}"
        return None

    def _passes(self, k: str, r: list[Any], row: Any) -> bool:
        if k == "distinct":
            vals = [r[i] for i in row[1]]
            return len({id(v) for v in vals}) == len(vals)
        if k == "state":
            return row[1] == thread_state()
        v = r[row[1]]
        if k == "is":
            return v is row[2]
        if k == "type_is":
            return type(v) is row[2]
        if k == "equals":
            return type(v) is type(row[2]) and (v == row[2] or v != v)
        if k == "length":
            return len(v) == row[2]
        if k == "keys":
            return tuple(v) == row[2]
        if k == "no_attr":
            return not hasattr(v, row[2])
        if k == "no_key":
            return row[2] not in v
        if k == "tensor":
            return facts(v) == row[2]
        if k == "alias":
            return v is r[row[2]]
        raise AssertionError(k)


def thread_state() -> int:
    return hash((torch_py.is_grad_enabled(), _C.is_inference_mode_enabled(), torch_py.get_default_dtype()))


class CompiledFunction:
    def __init__(self, function: Any, miss: Any, limit: int = 8) -> None:
        functools.update_wrapper(self, function)
        self.function = self._torchdynamo_orig_callable = function
        self.miss = miss
        self.entries: tuple[Any, ...] = ()
        self.signature = inspect.signature(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        code = self.function.__code__
        names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        n = len(names)
        if code.co_flags & 4:
            names.append(code.co_varnames[n])
            n += 1
        if code.co_flags & 8:
            names.append(code.co_varnames[n])
        values = tuple(bound.arguments[x] for x in names)
        reasons = []
        for program, run in self.entries:
            why = program.check(values)
            if why is None:
                return run(*values)
            reasons.append(why)
        return self.miss(self, values, reasons)(*values)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        import types

        return self if owner is None else types.MethodType(self, owner)

    def add(self, program: Any, code: Any) -> None:
        self.entries = ((program, code), *self.entries)

    def clear(self) -> None:
        self.entries = ()
