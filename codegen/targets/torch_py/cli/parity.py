"""``parity PATH``: compares the entries with another file of PyTorch's format."""

from __future__ import annotations

import argparse
import csv
import importlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from codegen.cli.loading import load_program
from codegen.diagnostics import Diagnostics
from codegen.model import Operator, Program
from codegen.schema import Argument, BaseType, FunctionSchema, OperatorName, SchemaError
from codegen.schema.names import BaseName
from codegen.targets.torch_py.cli.covering import covers, default_of, type_text
from codegen.yaml import ListValue, MapValue, Text, load_document

SAME = "same"
WIDER = "wider"
BY_HAND = "by hand"
DIFFERS = "differs"
MISSING = "missing"
STATUSES = (SAME, WIDER, BY_HAND, DIFFERS, MISSING)


@dataclass(frozen=True)
class Foreign:
    """An entry of the other file, as far as signatures need it."""

    schema: FunctionSchema
    variants: tuple[str, ...]
    python_module: str

    @property
    def apis(self) -> tuple[str, ...]:
        """``torch.relu``, ``torch.Tensor.relu``, ``torch.linalg.det`` ..."""
        name = self.schema.base_name
        place = {"": "torch", "nn": "torch.nn.functional"}.get(
            self.python_module, f"torch.{self.python_module}"
        )
        function = (
            (f"{place}.{name.removeprefix(f'{self.python_module}_')}",) if "function" in self.variants else ()
        )
        return function + ((f"torch.Tensor.{name}",) if "method" in self.variants else ())


@dataclass(frozen=True)
class Row:
    foreign: Foreign
    status: str
    difference: str
    uses: int = 0


def parity(options: argparse.Namespace) -> int:
    program = load_program(options)
    found = read_foreign(options.path)
    if isinstance(found, str):
        print(found, file=sys.stderr)
        return 1

    uses = {} if options.usage is None else read_usage(options.usage)
    if isinstance(uses, str):
        print(uses, file=sys.stderr)
        return 1

    rows = compare(
        program, found, uses, None if options.module is None else importlib.import_module(options.module)
    )

    print("\n".join(_markdown(rows, bool(uses)) if options.markdown else _lines(rows, bool(uses))))
    print("\n".join(["", *_summary(rows, uses)]))
    return 0


# Reading


def read_foreign(path: Path) -> list[Foreign] | str:
    """The entries of a list of maps with ``func``, ``variants`` and ``python_module``; a message if the file
    cannot be read."""
    problems = Diagnostics()
    root = load_document(path.name, path.read_text(encoding="utf-8"), problems).root
    if problems or not isinstance(root, ListValue):
        return (
            problems.render()
            if problems
            else f"{path.name}:1:1: the file is not a list of entries; write - func: ..."
        )

    found = []
    for entry in root:
        func = entry.get("func") if isinstance(entry, MapValue) else None
        if not isinstance(entry, MapValue) or not isinstance(func, Text):
            return f"{entry.location}: the entry has no 'func'; write - func: name(Tensor self) -> Tensor"
        try:
            schema = FunctionSchema.parse(func.text)
        except SchemaError as error:
            return f"{func.location_at(error.offset)}: {error.message}; {error.hint}"
        variants = tuple(word.strip() for word in _text(entry, "variants", "function").split(","))
        found.append(Foreign(schema, variants, _text(entry, "python_module", "")))

    return found


def _text(entry: MapValue, key: str, default: str) -> str:
    value = entry.get(key)
    return value.text if isinstance(value, Text) else default


def read_usage(path: Path) -> dict[str, int] | str:
    """``api,number_of_uses`` -> uses by api."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if not {"api", "number_of_uses"} <= set(reader.fieldnames or ()):
            return (
                f"{path.name}:1:1: the columns are {', '.join(reader.fieldnames or ())}; write "
                "api,number_of_uses"
            )
        try:
            return {_full(row["api"]): int(row["number_of_uses"]) for row in reader}
        except (TypeError, ValueError):
            return f"{path.name}:{reader.line_num}:1: the number of uses is not an integer; write api,12"


def _full(api: str) -> str:
    """``Tensor.add`` is ``torch.Tensor.add``."""
    return f"torch.{api}" if api.startswith("Tensor.") else api


# Comparing


def compare(
    program: Program, found: Sequence[Foreign], uses: dict[str, int], module: ModuleType | None = None
) -> list[Row]:
    """One row per schema, in the order of the file, or by use where it is known. An API that only ``module``
    defines is written by hand."""
    own: dict[str, list[FunctionSchema]] = {}
    for operator in program:
        for schema in _schemas(operator):
            own.setdefault(schema.base_name, []).append(schema)
    rows = [
        replace(_row(foreign, own, module), uses=sum(uses.get(api, 0) for api in foreign.apis))
        for foreign in found
    ]
    return sorted(rows, key=lambda row: -row.uses)


def _schemas(operator: Operator) -> Iterator[FunctionSchema]:
    """Every form under every name; arguments in ``scalars`` also accept a Scalar."""
    names = [operator.schema.name.name.base, *(alias.replace(".", "_") for alias in operator.aliases)]
    for schema in operator.schemas():
        for name in names:
            yield _called(schema, name)
            for scalar in operator.scalars:
                if not (schema.is_inplace and scalar == "self"):
                    yield _with_scalar(_called(schema, name), scalar)


def _called(schema: FunctionSchema, name: str) -> FunctionSchema:
    return replace(schema, name=OperatorName(schema.name.name._replace(base=name), schema.overload_name))


def _with_scalar(schema: FunctionSchema, name: str) -> FunctionSchema:
    def changed(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
        return tuple(replace(a, type=BaseType("Scalar")) if a.name == name else a for a in arguments)

    groups = schema.arguments
    own = None if groups.self_argument is None else changed((groups.self_argument,))[0]
    arguments = replace(
        groups, pre_self=changed(groups.pre_self), self_argument=own, post_self=changed(groups.post_self)
    )
    return replace(schema, arguments=arguments)


def _row(foreign: Foreign, own: dict[str, list[FunctionSchema]], module: ModuleType | None) -> Row:
    """Compares with the overload of the same name, or else with the most similar one."""
    candidates = own.get(str(BaseName.of(foreign.schema.base_name)), [])
    # An out form is compared with out forms only.
    candidates = [c for c in candidates if c.is_out == foreign.schema.is_out]
    differences = [
        (difference(foreign.schema, c), c.overload_name != foreign.schema.overload_name, c)
        for c in candidates
    ]
    if any(found is None for found, _, _ in differences):
        return Row(foreign, SAME, "")
    if not differences:
        is_there = (
            module is not None
            and not foreign.schema.is_out
            and any(_resolves(module, api) for api in foreign.apis)
        )
        return Row(foreign, BY_HAND if is_there else MISSING, "")
    covering = [entry for entry in differences if covers(entry[2], foreign.schema)]
    nearest = min(covering or differences, key=lambda entry: (entry[1], -entry[0][0] if entry[0] else 0))[0]
    assert nearest is not None
    return Row(foreign, WIDER if covering else DIFFERS, nearest[1])


def _resolves(module: ModuleType, api: str) -> bool:
    """Whether ``torch.linalg.det`` is ``module.linalg.det``."""
    found: object = module
    for name in api.split(".")[1:]:
        found = getattr(found, name, None)
    return found is not None


def difference(theirs: FunctionSchema, ours: FunctionSchema) -> tuple[int, str] | None:
    """The position of the first argument that differs, and how; None if the signatures agree."""

    pairs = (_flat(theirs), _flat(ours))
    for position, (wanted, own) in enumerate(zip(*pairs)):
        (their_argument, their_keyword), (our_argument, our_keyword) = wanted, own
        name = their_argument.name
        if name != our_argument.name:
            is_missing = name not in ours.arguments.names()
            return position, f"{name}: missing" if is_missing else f"{our_argument.name}: extra"
        if type_text(their_argument.type) != type_text(our_argument.type):
            return (
                position,
                f"{name}: type {type_text(our_argument.type)}, not {type_text(their_argument.type)}",
            )
        if default_of(their_argument) != default_of(our_argument):
            return (
                position,
                f"{name}: default {our_argument.default or 'missing'}, not "
                f"{their_argument.default or 'none at all'}",
            )
        if their_keyword != our_keyword:
            return (
                position,
                f"{name}: {'keyword-only' if our_keyword else 'positional'}, not "
                f"{'keyword-only' if their_keyword else 'positional'}",
            )

    shorter = min(map(len, pairs))
    for flat, word in zip(pairs, ("missing", "extra")):
        if len(flat) > shorter:
            return shorter, f"{flat[shorter][0].name}: {word}"

    results = [[str(r.type).replace("SymInt", "int") for r in schema.returns] for schema in (theirs, ours)]
    return (
        None
        if results[0] == results[1]
        else (shorter, f"returns ({', '.join(results[1])}), not ({', '.join(results[0])})")
    )


def _flat(schema: FunctionSchema) -> list[tuple[Argument, bool]]:
    keywords = schema.arguments.kwarg_only + schema.arguments.out
    return [*((a, False) for a in schema.arguments.positional), *((a, True) for a in keywords)]


# Printing


def _lines(rows: Sequence[Row], has_uses: bool) -> Iterator[str]:
    for row in rows:
        count = f"{row.uses:9}  " if has_uses else ""
        yield f"{count}{row.status:8} {row.foreign.schema.name}" + (
            f"  ({row.difference})" if row.difference else ""
        )


def _markdown(rows: Sequence[Row], has_uses: bool) -> Iterator[str]:
    yield "| operator | here |" + (" uses |" if has_uses else "")
    yield "|---|---|" + ("---:|" if has_uses else "")
    for row in rows:
        text = f"{row.status}: {row.difference}".removesuffix(": ")
        yield f"| `{row.foreign.schema.name}` | {text} |" + (f" {row.uses} |" if has_uses else "")


def _summary(rows: Sequence[Row], uses: dict[str, int]) -> Iterator[str]:
    counts = {status: sum(row.status == status for row in rows) for status in STATUSES}
    yield f"{len(rows)} schemas: " + ", ".join(f"{count} {status}" for status, count in counts.items())

    if not uses:
        return

    by_api: dict[str, set[str]] = {}
    for row in rows:
        for api in row.foreign.apis:
            by_api.setdefault(api, set()).add(row.status)

    total = sum(count for api, count in uses.items() if api in by_api)
    here = sum(count for api, count in uses.items() if by_api.get(api, {MISSING}) != {MISSING})
    same = sum(count for api, count in uses.items() if by_api.get(api, {MISSING}) <= {SAME, WIDER, BY_HAND})
    yield (
        f"{total} uses: {_percent(here, total)} of operators that exist here, {_percent(same, total)} of "
        "those without a difference"
    )

    unknown = [api for api in uses if api not in by_api]
    if unknown:
        yield (
            f"{len(unknown)} other names, used {sum(uses[api] for api in unknown)} times, are not "
            "operators of the file"
        )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0.0 %"
