"""``counts``: the number of entries, forms, functions, gradients and checks."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from codegen.cli.loading import load_program
from codegen.model import Operator, Program
from codegen.model.vocabulary import STRUCTURES
from codegen.targets.torch_py.analysis.gradient_kind import gradient_kind
from codegen.targets.torch_py.analysis.kernels import cuda_entry, runs_on_host
from codegen.targets.torch_py.python_modules import PYTHON_MODULES, qualified
from codegen.targets.torch_py.scanned import kernel_files

Row = tuple[str, int]
# Name, conditions in ``requires``, checks in C++.
Checks = tuple[str, int, int]

_BATCH_RULES = (
    "through the operators that they call",
    "element by element, or in front of the dimensions they act on",
    "as views of the whole batch",
    "along their `dim`",
    "by a rule in C++",
    "without a tensor",
    "one member at a time",
)
_OWN_RULE = re.compile(r"\{ops::(\w+)::entry, &")
_CPP_CHECK = re.compile(r"\bTORCH_CHECK(?:_\w+)?\(")


def counts(options: argparse.Namespace) -> int:
    program = load_program(options)
    if options.write:
        if program.library is not None:
            print("counts --write is for native_functions.yaml: a library has no such pages", file=sys.stderr)
            return 1
        for path, text in pages(program).items():
            (Path(program.path).parent / path).write_text(text, encoding="utf-8")
            print(path)
        return 0

    print("\n".join(_lines(_sections(program), list(_checks(program)))))
    return 0


def pages(program: Program) -> dict[str, str]:
    """The pages of docs/ that follow from the entries alone."""
    found = {"docs/counts.md": _markdown(_sections(program)), "docs/cuda_fallbacks.md": _fallbacks(program)}
    return {path: "".join(f"{line}\n" for line in lines) for path, lines in found.items()}


def _sections(program: Program) -> dict[str, list[Row]]:
    return {
        "Entries": _entries(program),
        "Structures": _structures(program),
        "On CUDA": _cuda(program),
        "In Python": _python(program),
        "Gradients of public entries": _gradients(program),
        "Batches (`torch.func.vmap`) of public entries": _batches(program),
    }


def _public(program: Program) -> list[Operator]:
    """All but the operators that only formulas and kernels call."""
    return [o for o in program if o.python_module != "private"]


def _entries(program: Program) -> list[Row]:
    formulas = [o for o in program if o.expr is not None]

    return [
        ("entries, one for each overload", len(program.operators)),
        ("of these for lists, which follow from `foreach`", sum(o.each is not None for o in program)),
        ("topics", len(program.topics)),
        ("public entries", len(_public(program))),
        ("names of public operators", len({(o.python_module, o.base_name) for o in _public(program)})),
        ("entries with a formula (`expr`)", len(formulas)),
        (
            "of these without any C++ or written derivative",
            sum(not o.dispatch and not o.derivatives for o in formulas),
        ),
        ("in-place forms", sum(o.has_inplace for o in program)),
        ("`out=` forms", sum(o.has_out for o in program)),
        ("functions of the dispatcher, all forms", sum(len(o.schemas()) for o in program)),
        ("entries with requirements", sum(bool(o.requires) for o in program)),
    ]


def _structures(program: Program) -> list[Row]:
    found = Counter(o.structure for o in program)
    return [(f"`{structure}`", found[structure]) for structure in STRUCTURES]  # type: ignore[index]


def _cuda(program: Program) -> list[Row]:
    formulas = sum(o.expr is not None and cuda_entry(o) is None for o in program)
    kernels = sum(cuda_entry(o) is not None for o in program)
    on_host = sum(map(runs_on_host, program))
    return [
        ("with a kernel printed from a formula", formulas),
        ("with a kernel written by hand", kernels),
        ("that run the CPU's kernel on copies", on_host),
        ("through one function for every device", len(program.operators) - formulas - kernels - on_host),
    ]


def _fallbacks(program: Program) -> Iterator[str]:
    by_topic = {
        name: [f"`{o.name}`" for o in topic.operators if runs_on_host(o)]
        for name, topic in program.topics.items()
    }
    yield "# Entries without a CUDA kernel"
    yield ""
    yield "These entries run the CPU's kernel on copies in host memory; `torch.cuda.host_fallbacks()` counts"
    yield "the calls. `python -m codegen counts --write` wrote this page."
    yield from ("", f"{sum(map(len, by_topic.values()))} of {len(program.operators)} entries.", "")
    yield from ("| topic | entries |", "|---|---|")
    yield from (f"| {topic} | {', '.join(names)} |" for topic, names in by_topic.items() if names)


def _python(program: Program) -> list[Row]:
    """Names that can be called: overloads share one, and each alias counts."""
    functions: dict[str, set[str]] = {word: set() for word in PYTHON_MODULES}
    methods: set[str] = set()

    for operator in program:
        for word, name in _functions(operator):
            functions[word].add(name)
        here = [alias for alias in operator.aliases if "." not in alias]
        if operator.is_method:
            methods.update([operator.python_name, *here])
        if operator.has_inplace_method:
            methods.update(f"{name}_" for name in (operator.python_name, *here))

    del functions["private"]

    rows = [
        (
            f"functions of `{qualified('torch', word)}`"
            if word != "nn"
            else "functions behind `torch.nn.functional`",
            len(names),
        )
        for word, names in functions.items()
    ]

    return [("functions", sum(map(len, functions.values()))), *rows, ("methods of `Tensor`", len(methods))]


def _functions(operator: Operator) -> Iterator[tuple[str, str]]:
    """Module and name."""
    names = [(operator.python_module, operator.python_name)]
    for alias in operator.aliases:
        module, _, name = alias.rpartition(".")
        names.append((module or operator.python_module, name))
    if operator.is_function:
        yield from names
    if operator.has_inplace_function:
        yield from ((module, f"{name}_") for module, name in names if module == operator.python_module)


def _gradients(program: Program) -> list[Row]:
    public = _public(program)
    automatic = [o for o in public if o.derives_automatically]
    written = [
        o
        for o in public
        if o.derivatives
        and o.non_differentiable is None
        and not all(d.is_non_differentiable for d in o.derivatives)
    ]

    formula = [o for o in automatic if o.expr is not None]
    views = [o for o in automatic if o.expr is None and o.structure == "view"]
    composed = len(automatic) - len(formula) - len(views)
    total = len(written) + len(automatic)

    return [
        ("with written derivatives", len(written)),
        ("that follow from a formula", len(formula)),
        ("views, reversed", len(views)),
        ("through the operators that they call", composed),
        ("together, in backward and in forward mode", total),
        ("without a gradient", len(public) - total),
    ]


def _batches(program: Program) -> list[Row]:
    """How many public entries get the members of a batch in which way (aten/transforms)."""
    rules = Path(program.path).parent / "aten" / "transforms"
    own = {name for path in rules.glob("*.cpp") for name in _OWN_RULE.findall(path.read_text("utf-8"))}
    found = Counter(_batch_rule(o, own) for o in _public(program))
    return [(rule, found[rule]) for rule in _BATCH_RULES]


def _batch_rule(operator: Operator, own: set[str]) -> str:
    structure, tags = operator.structure, operator.tags
    composed, aligned, view, along, by_hand, none, alone = _BATCH_RULES
    is_decomposed = gradient_kind(operator) == "decomposed" and "whole_in_transforms" not in tags
    if is_decomposed or "composed_in_transforms" in tags:
        return composed
    if operator.unambiguous_name in own:
        return by_hand
    if structure == "pointwise" or "batch_in_front" in tags:
        return aligned
    if structure == "view" or "inplace_view" in tags:
        return view
    if structure == "reduction" or "along_dim" in tags:
        return along
    return alone if operator.tensor_arguments else none


def _checks(program: Program) -> Iterator[Checks]:
    """What the arguments of each topic must satisfy: stated in entries, and checked in the topic's C++."""
    in_files = Counter[str]()
    for path in kernel_files(Path(program.path).parent):
        topic = path.name.split(".")[0].removesuffix("Kernel")
        found = len(_CPP_CHECK.findall(path.read_text(encoding="utf-8", errors="replace")))
        in_files[topic if topic in program.topics else ""] += found

    rows = [
        (name, sum(len(o.requires) for o in topic.operators if o.each is None), in_files[name])
        for name, topic in program.topics.items()
    ]
    yield "all topics", sum(row[1] for row in rows), sum(row[2] for row in rows)
    yield "files of no topic", 0, in_files[""]
    yield from (row for row in rows if row[1] + row[2] > 0)


def _share(stated: int, coded: int) -> str:
    return f"{stated / max(1, stated + coded):.0%}"


def _lines(sections: dict[str, list[Row]], checks: list[Checks]) -> Iterator[str]:
    for title, rows in sections.items():
        yield title.replace("`", "")
        yield from (f"{count:8}  {name.replace('`', '')}" for name, count in rows)
    yield "Checks of arguments: in requires, in C++, share of requires"
    yield from (f"{stated:8} {coded:8} {_share(stated, coded):>6}  {name}" for name, stated, coded in checks)


def _markdown(sections: dict[str, list[Row]]) -> Iterator[str]:
    yield "# Counts"
    yield ""
    yield "This page counts what `native_functions.yaml` declares; `python -m codegen counts --write` wrote"
    yield "it. Without `--write`, the command also counts the checks that are written in C++."
    for title, rows in sections.items():
        yield from ("", f"## {title}", "", "| | |", "|---|---:|")
        yield from (f"| {name} | {count} |" for name, count in rows)
