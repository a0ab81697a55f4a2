"""``new OP``: the entry and the kernel stub that a person fills in."""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from codegen.cli.loading import base_program
from codegen.diagnostics import Diagnostic, Diagnostics, Location, did_you_mean
from codegen.model import Kernel, Operator, Program, read_program
from codegen.model.cpp import kernel_file, kernel_signature, shape_signature
from codegen.model.vocabulary import ALL_STRUCTURES, STRUCTURES
from codegen.schema import FunctionSchema, SchemaError

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
class _Stub:
    symbol: str
    path: str
    signature: str

    @property
    def text(self) -> str:
        return f'{self.signature} {{\n  TORCH_CHECK_NOT_IMPLEMENTED(false, "{self.symbol} is not written yet");\n}}\n'


def new(options: argparse.Namespace) -> int:
    base = base_program(options)
    program = read_program(options.yaml, Diagnostics(), base) if options.yaml.is_file() else None
    if options.structure not in STRUCTURES:
        print(f"unknown structure '{options.structure}'; {did_you_mean(options.structure, STRUCTURES)}", file=sys.stderr)
        return 1
    text = options.operator
    if "(" not in text:
        text = _DEFAULT_SCHEMAS[options.structure].format(name=text.removesuffix("_"))
    try:
        schema = FunctionSchema.parse(text)
    except SchemaError as error:
        print(f"{text}\n{' ' * error.offset}^ {error.message}; {error.hint}", file=sys.stderr)
        return 1
    if program is not None and program.operators.get(schema.unambiguous_name) is not None:
        first = program.operators[schema.unambiguous_name].location
        print(f"{first}: {schema.name}: it exists already; choose another name or overload", file=sys.stderr)
        return 1
    topic = options.topic or _topic(program, options.structure)
    operator = _operator(schema, topic, options.structure)
    entry = entry_text(operator, options.expr, program)
    stubs = [] if options.expr else kernel_stubs(operator)
    problems = _problems(options.yaml, operator, entry, stubs, base)
    if problems:
        print(f"{entry}\n" + "\n".join(map(str, problems)), file=sys.stderr)
        return 1
    if options.write:
        return _write(options.yaml, topic, entry, stubs)
    print(f"# {options.yaml}, topic {topic}\n{entry}", end="")
    for stub in stubs:
        print(f"\n// {stub.path}\n{stub.text}", end="")
    return 0


def _problems(yaml_path: Path, operator: Operator, entry: str, stubs: list[_Stub], base: Program | None) -> list[Diagnostic]:
    """What ``check`` would say of the entry if it and its kernels were written."""
    problems = Diagnostics()
    planned = [Kernel(stub.symbol, stub.path, 1, False, stub.signature) for stub in stubs]
    read_program(yaml_path, problems, base, text=with_entry(_text(yaml_path), operator.topic, entry), planned=planned)
    return [p for p in problems.sorted() if p.operator in (operator.name, operator.topic)]


def _text(yaml_path: Path) -> str:
    return yaml_path.read_text(encoding="utf-8") if yaml_path.is_file() else "topics:\n"


def _topic(program: Program | None, structure: str) -> str:
    """The last topic that has an entry of this structure."""
    topics = [] if program is None else list(program.topics.values())
    fitting = [t.name for t in topics if any(o.structure == structure for o in t.operators)]
    return (fitting or [t.name for t in topics] or ["Operators"])[-1]


def _operator(schema: FunctionSchema, topic: str, structure: str) -> Operator:
    """An operator as far as signatures need it."""
    nowhere = Location("", 0, 0)
    return Operator(schema, topic, ("function",), "torch", (), structure, None, (), (), (), (), None, None, (), None,  # type: ignore[arg-type]
                    None, (), None, "", (), None, nowhere, {}, "")


def entry_text(operator: Operator, expr: str | None, program: Program | None) -> str:
    """The YAML, indented as in a topic; what only its author knows stands there as an example."""
    name, structure = operator.unambiguous_name, operator.structure
    own = operator.arguments.self_argument
    lines = [f"- func: {operator.schema}", f"  variants: {'function, method' if own else 'function'}", f"  structure: {structure}"]
    if structure == "shaped":
        lines.append(f"  shape: {name}_shape")
    if structure not in ALL_STRUCTURES:
        lines.append(f"  dtypes: {_dtypes(program)}")
    if expr is not None:
        lines.append(f"  expr: {json.dumps(expr, ensure_ascii=False)}")
    elif structure in ALL_STRUCTURES:
        lines += ["  dispatch:", f"    All: {name}"]
    else:
        lines += ["  dispatch:", f"    CPU: {name}_kernel"]
    if expr is None and structure not in ALL_STRUCTURES and operator.tensor_arguments:
        gradient = "grad" if len(operator.schema.returns) == 1 else "grads[0]"
        lines += ["  derivatives:", *(f"    {a.name}: {gradient}" for a in operator.tensor_arguments)]
    lines += ["  samples: unary", "  doc: |", f"    Computes {name}."]
    return "".join(f"    {line}\n" for line in lines)


def _dtypes(program: Program | None) -> str:
    """The first set whose every member has a derivative: right for most, and for a formula of maths functions."""
    sets = {} if program is None else program.all_dtype_sets()
    return next((name for name, found in sets.items() if all("float" in dtype for dtype in found.members)), "float32, float64")


def kernel_stubs(operator: Operator) -> list[_Stub]:
    """The functions that the entry names."""
    name = operator.unambiguous_name
    key = "All" if operator.structure in ALL_STRUCTURES else "CPU"
    kernel = name if key == "All" else f"{name}_kernel"
    stubs = [_Stub(kernel, kernel_file(operator, key), kernel_signature(operator, kernel, key))]
    if operator.structure == "shaped":
        stubs.append(_Stub(f"{name}_shape", f"aten/native/{operator.topic}.cpp", shape_signature(operator, f"{name}_shape")))
    return stubs


def _write(yaml_path: Path, topic: str, entry: str, stubs: list[_Stub]) -> int:
    yaml_path.write_text(with_entry(_text(yaml_path), topic, entry), encoding="utf-8")
    print(f"wrote {yaml_path}")
    for stub in stubs:
        path = yaml_path.parent / stub.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_with_stub(path, stub.text), encoding="utf-8")
        print(f"wrote {path}")
    return 0


def with_entry(text: str, topic: str, entry: str) -> str:
    """``text`` with ``entry`` at the end of ``topic``, which is added when missing."""
    found = re.search(rf"^  {re.escape(topic)}:[^\n]*\n", text, re.MULTILINE)
    if found is None:
        lead = text if text.endswith("\n") or not text else text + "\n"
        return f"{lead}\n  {topic}:\n{entry}"
    # The next topic, or the comment above it.
    following = re.compile(r"^ {0,2}(?=\S)", re.MULTILINE).search(text, found.end())
    end = following.start() if following else len(text)
    before = text[:end].rstrip() + "\n"
    is_first = before.endswith(found.group().rstrip() + "\n")
    return before + ("" if is_first else "\n") + entry + ("\n" + text[end:] if following else "")


def _with_stub(path: Path, stub: str) -> str:
    """The file with ``stub`` at the end of the namespace that kernels are in, which has a name per instruction set below native/cpu."""
    per_instruction_set = path.parent.name == "cpu"
    if not path.exists():
        includes = [f"aten/native/declarations/{'cpu/' * per_instruction_set}{path.stem}.h", "aten/Dispatch.h", "aten/iteration/Loops.h"]
        opening, closing = ["namespace at::native {"], ["}  // namespace at::native"]
        if per_instruction_set:
            opening, closing = [*opening, "inline namespace CPU_CAPABILITY {"], ["}  // namespace CPU_CAPABILITY", *closing]
        head = [f'#include "{include}"' for include in includes]
        return "\n".join([*head, "", *opening, "", stub, *closing, ""])
    text = path.read_text(encoding="utf-8")
    closing_brace = re.compile(r"^\}[^\n]*\bCPU_CAPABILITY\b" if per_instruction_set else r"^\}[^\n]*\bat::native\b", re.MULTILINE)
    ends = [found.start() for found in closing_brace.finditer(text)] or [text.rfind("}")]
    return f"{text[: ends[-1]].rstrip()}\n\n{stub}\n{text[ends[-1] :]}" if ends[-1] >= 0 else f"{text}\n{stub}"
