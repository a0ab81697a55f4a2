"""``new OP``: drafts an entry, the C++ functions that it names and samples, for a person to complete."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from codegen.cli.loading import base_program
from codegen.diagnostics import Diagnostic, Diagnostics, GenerationError, Location, closest, did_you_mean
from codegen.expressions import ExpressionError, parse
from codegen.expressions.rows import has_reductions
from codegen.model import Kernel, Operator, Program, read_program
from codegen.model.operator import Variant
from codegen.model.vocabulary import STRUCTURES
from codegen.schema import FunctionSchema, OperatorName, SchemaError
from codegen.targets.torch_py.cli.drafts import (
    SamplesDraft,
    Stub,
    dtypes_like,
    entry_text,
    kernel_stubs,
    missing_stubs,
    samples_for,
    structure_like,
    topic_like,
)
from codegen.targets.torch_py.cli.insertion import with_entry, with_samples, with_stub
from codegen.targets.torch_py.cli.lookup import operators_called
from codegen.targets.torch_py.dialect import implied_module
from codegen.targets.torch_py.keys import ALL_STRUCTURES
from codegen.targets.torch_py.python_modules import PREFIXED, PYTHON_MODULES

_DEFAULT_SCHEMAS = {
    "pointwise": "{name}(Tensor self) -> Tensor",
    "reduction": "{name}(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor",
    "view": "{name}(Tensor(a) self) -> Tensor(a)",
    "shaped": "{name}(Tensor self) -> Tensor",
    "composite": "{name}(Tensor self) -> Tensor",
    "dynamic": "{name}(Tensor self) -> Tensor",
    "mutation": "{name}_(Tensor(a!) self) -> Tensor(a!)",
}


@dataclass(frozen=True)
class Draft:
    """An entry and where it goes."""

    topic: str
    chapter: str
    entry: str


def new(options: argparse.Namespace) -> int:
    """Drafts the operator, or only its missing functions if its entry exists. Returns the exit status."""
    if not options.is_yaml_given and not _is_at_home(options.yaml):
        what = "this folder is neither a checkout nor that of a package's operators"
        return _refuse(f"{options.yaml}: {what}; name the file: --yaml PATH")

    base = base_program(options)
    problems = Diagnostics()
    program = read_program(options.yaml, problems, base) if _has_text(options.yaml) else None
    if program is None and problems:  # a file without a topic cannot take an entry
        raise GenerationError(problems)
    existing = _existing(program, options.operator)
    if existing:
        return _complete(options, existing)

    if options.structure is not None and options.structure not in STRUCTURES:
        hint = did_you_mean(options.structure, STRUCTURES)
        return _refuse(f"unknown structure '{options.structure}'; {hint}")

    text, module, variants = _without_place(options.operator, options.structure)
    try:
        schema = FunctionSchema.parse(text)
    except SchemaError as error:
        return _refuse(f"{text}\n{' ' * error.offset}^ {error.message}; {error.hint}")

    schema, has_out = _without_out(schema)
    if has_out:
        variants = (*variants, "function", "out")
    if options.structure is None:
        options.structure = _structure_of(options.expr, schema) if options.expr else structure_like(schema)
    if program is not None and program.operators.get(schema.unambiguous_name) is not None:
        return _complete(options, [program.operators[schema.unambiguous_name]])

    refusal = _refusal(options, schema, module, program)
    return _refuse(refusal) if refusal else _draft(options, schema, module, variants, program, base)


def _refuse(message: str) -> int:
    """Prints why nothing is drafted. Returns the exit status."""
    print(message, file=sys.stderr)
    return 1


def _refusal(
    options: argparse.Namespace, schema: FunctionSchema, module: str | None, program: Program | None
) -> str | None:
    """Why a schema gets no entry, None if it gets one."""
    if options.cuda and (options.expr or options.structure in ALL_STRUCTURES):
        return "--cuda: formulas, views and compositions run on CUDA without a kernel"
    taken = _alias_of(program, schema, module) if program is not None else None
    if taken is None:
        return None
    return f"{taken.location}: '{schema.base_name}' is an alias of {taken.name}; choose another name"


def _has_text(path: Path) -> bool:
    return path.exists() and (not path.is_file() or bool(path.read_bytes().strip()))


def _is_at_home(path: Path) -> bool:
    """Whether a file of the default name is one of ours: PyTorch has one as well."""
    if not path.is_file():
        return False
    is_library = re.search(rb"^library *:", path.read_bytes(), re.MULTILINE) is not None
    return is_library or (path.parent / "aten" / "native").is_dir()


def _existing(program: Program | None, text: str) -> list[Operator]:
    """The operators that a name without a schema means: add, add.Tensor, torch.add, nn.functional.relu."""
    if program is None or "(" in text:
        return []
    exact = [o for o in program if text in (o.name, o.unambiguous_name, o.base_name)]
    module, _, name = text.rpartition(".")
    called = operators_called(program, text) if module else ()
    return exact or [o for o in called if name in (o.base_name, o.python_name)]


def _alias_of(program: Program, schema: FunctionSchema, module: str | None) -> Operator | None:
    """The operator that has the name of the new one as an alias."""
    word = module or implied_module(schema)
    name = schema.base_name.removeprefix(f"{word}_")
    aliases: dict[str, Operator] = {}
    for operator in program:
        for alias in operator.aliases:
            aliases.setdefault(alias if "." in alias else f"{operator.python_module}.{alias}", operator)
    return aliases.get(f"{word}.{name}")


def _structure_of(expr: str, schema: FunctionSchema) -> str:
    """The structure of an entry with a formula, which may be over rows."""
    try:
        is_over_rows = has_reductions(parse(expr))
    except ExpressionError:  # reported with the entry
        is_over_rows = False
    if not is_over_rows:
        return "pointwise"
    return "reduction" if schema.arguments.find("keepdim") is not None else "shaped"


def _without_place(text: str, structure: str | None) -> tuple[str, str | None, tuple[Variant, ...]]:
    """The schema of the entry, the module of the function, and the variants that the text asks for."""
    if "(" not in text:
        text = _DEFAULT_SCHEMAS[structure or "pointwise"].format(name=text.removesuffix("_"))
    is_method = re.match(r"(?:torch\.)?Tensor\.(?=\w+\()", text)
    if is_method:
        return text[is_method.end() :], None, ("method",)

    module, text = _without_module(text)
    return text, module, ()


def _without_module(text: str) -> tuple[str | None, str]:
    """``nn.foo(Tensor self) -> Tensor`` as a function of a module: its word, and the schema of the entry."""
    found = re.match(r"(?:torch\.)?(?:nn\.functional|F|(\w+))\.(?=\w+\()", text)
    word = found[1] or "nn" if found else ""
    if found is None or word not in PYTHON_MODULES or word == "private":
        return None, text
    name = text[found.end() :]
    return word, f"{word}_{name}" if word in PREFIXED else name


def _without_out(schema: FunctionSchema) -> tuple[FunctionSchema, bool]:
    """The schema without ``out`` arguments, which the variant of that name adds, and whether it had any."""
    if not schema.arguments.out:
        return schema, False
    arguments = replace(schema.arguments, out=())
    returns = tuple(replace(result, annotation=None) for result in schema.returns)
    name = OperatorName(schema.name.name, schema.overload_name.removesuffix("out").removesuffix("_"))
    return replace(schema, name=name, arguments=arguments, returns=returns), True


def _complete(options: argparse.Namespace, operators: list[Operator]) -> int:
    """Drafts the functions that existing entries name and that are not written yet."""
    stubs = [stub for operator in operators for stub in missing_stubs(operator)]
    if not stubs:
        first = operators[0]
        print(
            f"{first.location}: {first.name}: it exists already, with all functions that it names; "
            "choose another name or overload",
            file=sys.stderr,
        )
        return 1

    _put(options, None, stubs, None)
    return 0


def _draft(
    options: argparse.Namespace,
    schema: FunctionSchema,
    module: str | None,
    variants: tuple[Variant, ...],
    program: Program | None,
    base: Program | None,
) -> int:
    """Drafts a new entry, or prints the problems that ``check`` would find in it."""
    topic = options.topic or topic_like(schema, options.structure, program)
    chapter = _chapter(schema, topic, options.structure, program)
    operator = _operator(schema, topic, options.structure, chapter)
    if module is not None:
        operator = replace(operator, python_module=module)
    if variants:
        operator = replace(operator, variants=variants)
    dtypes = dtypes_like(program, options.structure, options.expr is not None)
    operator = replace(operator, dtype_sets=dtypes)

    samples = samples_for(operator, program)
    has_samples = (options.yaml.parent / "tests" / "ops" / "samples").is_dir()
    entry = entry_text(operator, options.expr, program, samples.name, options.cuda)
    stubs = [] if options.expr else kernel_stubs(operator, options.cuda)

    problems = _problems(options.yaml, operator, entry, stubs, base)
    if samples.text:  # written together with the entry, so they are unknown only now
        awaited = (f"unknown samples '{samples.name}'", "the entry has no 'samples'")
        problems = [p for p in problems if not p.message.startswith(awaited)]
    if problems:
        print(f"{entry}\n" + "\n".join(map(str, problems)), file=sys.stderr)
        return 1

    _put(options, Draft(topic, chapter, entry), stubs, samples if samples.text and has_samples else None)
    topics = list(program.topics) if program is not None else []
    if topic not in topics:
        near = closest(topic, topics)
        place = f"the chapter {chapter} of {options.yaml}" if chapter else f"{options.yaml}"
        question = f"; did you mean {near}?" if near else ""
        print(f"{topic} is a new topic, at the end of {place}{question}", file=sys.stderr)
    return 0


def _problems(
    yaml_path: Path, operator: Operator, entry: str, stubs: list[Stub], base: Program | None
) -> list[Diagnostic]:
    """The problems that ``check`` would report if the entry and its kernels were written."""
    problems = Diagnostics()
    text = with_entry(_text(yaml_path), operator.topic, entry, operator.chapter)
    lines_before = text[: text.index(entry)].count("\n")
    planned = [Kernel(stub.symbol, stub.path, 1, False, stub.signature) for stub in stubs]
    read_program(yaml_path, problems, base, text=text, planned=planned)
    found = [p for p in problems.sorted() if p.operator in (operator.name, operator.topic)]
    return [p._replace(location=_place_in_draft(p.location, lines_before)) for p in found]


def _place_in_draft(place: Location, lines_before: int) -> Location:
    """Counts from the first line of the entry, which is printed above the problems and not in a file."""
    return Location("draft", max(place.line - lines_before, 1), place.column)


def _text(yaml_path: Path) -> str:
    return yaml_path.read_text(encoding="utf-8") if yaml_path.is_file() else "topics:\n"


def _chapter(schema: FunctionSchema, topic: str, structure: str, program: Program | None) -> str:
    """The chapter of the topic; a new topic joins that of the entries most like the new one."""
    if program is None:
        return ""
    known = topic if topic in program.topics else topic_like(schema, structure, program)
    return next((o.chapter for o in program if o.topic == known), "")


def _operator(schema: FunctionSchema, topic: str, structure: str, chapter: str) -> Operator:
    """An operator with the fields that signatures need."""
    return Operator(
        schema=schema,
        topic=topic,
        structure=structure,  # type: ignore[arg-type]
        python_module=implied_module(schema),
        # The draft is not in a file yet, so no text can be pointed to.
        location=Location("", 0, 0),
        key_locations={},
        entry_text="",
        chapter=chapter,
    )


def _put(
    options: argparse.Namespace,
    draft: Draft | None,
    stubs: list[Stub],
    samples: SamplesDraft | None,
) -> None:
    """Writes the drafts into their files with ``--write``, and prints them otherwise."""
    if options.write:
        _write(options.yaml, draft, stubs, samples)
        return

    parts = [f"# {options.yaml}, topic {draft.topic}\n{draft.entry}"] if draft is not None else []
    parts += [f"// {stub.path}\n{stub.text}" for stub in stubs]
    parts += [f"# {samples.path}\n{samples.text}"] if samples is not None else []
    print("\n".join(parts), end="")


def _write(yaml_path: Path, draft: Draft | None, stubs: list[Stub], samples: SamplesDraft | None) -> None:
    folder = yaml_path.parent
    texts: dict[Path, str] = {}

    if draft is not None:
        texts[yaml_path] = with_entry(_text(yaml_path), draft.topic, draft.entry, draft.chapter)
    for stub in stubs:
        path = folder / stub.path
        texts[path] = with_stub(path, stub.text, texts.get(path), stub.include)
    if draft is not None and samples is not None:
        path = folder / samples.path
        texts[path] = with_samples(path, samples.text, draft.topic)

    for path, text in texts.items():
        if path != yaml_path:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")
