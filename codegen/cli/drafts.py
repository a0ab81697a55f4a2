"""What an entry of ``new`` says before its author does: every guess is taken from entries that are like
it."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from dataclasses import dataclass

from codegen.model import Operator, Program, implied
from codegen.model.cpp import kernel_signature, shape_signature
from codegen.model.rooms import kernel_file, shape_file
from codegen.model.vocabulary import ALL_STRUCTURES
from codegen.schema import Argument, FunctionSchema

# Raises NotImplementedError in backward: what a derivative is until someone has written it.
_UNWRITTEN = "_refuse_gradient"


@dataclass(frozen=True)
class Stub:
    """A function that an entry names, to be written into ``path``."""

    symbol: str
    path: str
    signature: str
    include: str = "aten/iteration/Loops.h"  # what its body is made of

    @property
    def text(self) -> str:
        return (
            f'{self.signature} {{\n  TORCH_CHECK_NOT_IMPLEMENTED(false, "{self.symbol} is not written '
            f'yet");\n}}\n'
        )


@dataclass(frozen=True)
class SamplesDraft:
    """The name of a generator of arguments; ``text`` is its file where none fits."""

    name: str
    path: str = ""
    text: str = ""


def structure_like(schema: FunctionSchema) -> str:
    """What the arguments tell: of one dimension something is reduced, or composed."""
    names = {argument.name for argument in schema.arguments.flat_all}
    if {"dim", "keepdim"} <= names:
        return "reduction"
    return "composite" if "dim" in names else "pointwise"


def topic_like(schema: FunctionSchema, structure: str, program: Program | None) -> str:
    """That of the entry which is most like the new one, by name, module, structure and arguments."""
    operators = [] if program is None else list(program)
    if not operators:
        return "Operators" if program is None or not program.topics else list(program.topics)[-1]
    name, matcher = schema.base_name, difflib.SequenceMatcher()
    matcher.set_seq2(name)

    def likeness(operator: Operator) -> float:
        matcher.set_seq1(operator.base_name)
        alike = matcher.ratio() if matcher.real_quick_ratio() > 0.6 else 0.0
        same_module = operator.python_module == implied.python_module(schema)
        same_types = _types(operator.schema) == _types(schema)
        return 2 * (alike > 0.7) * alike + same_module + 1.5 * (operator.structure == structure) + same_types

    best = max(map(likeness, operators))
    # Of equally good ones, the topic with most of them.
    return Counter(o.topic for o in operators if likeness(o) == best).most_common(1)[0][0]


def _types(schema: FunctionSchema) -> list[str]:
    return [str(a.type).replace("SymInt", "int") for a in schema.arguments.flat_all]


def samples_for(operator: Operator, program: Program | None) -> SamplesDraft:
    """A generator whose arguments have these types, and these names but for tensors: they may be passed by
    name."""
    if implied.python_module(operator.schema) == "private":
        return SamplesDraft(implied.PRIVATE_SAMPLES)
    wanted = _arguments(operator.schema)
    if wanted == [("Tensor", "")]:
        return SamplesDraft("unary")
    if program is not None:
        public = (
            o
            for o in program
            if o.python_module != "private" and o.samples and o.structure == operator.structure
        )
        alike = [o for o in public if _arguments(o.schema) == wanted]
        # One that serves a single operator may draw values for it alone.
        users = {
            name: [o for o in program if o.samples == name]
            for name in dict.fromkeys(o.samples for o in alike)
        }
        general = [name for name, found in users.items() if name and len({o.base_name for o in found}) > 1]
        if general:
            return SamplesDraft(
                max(general, key=lambda name: (len({o.topic for o in users[name]}), len(users[name])))
            )
    name = implied.samples(operator.schema, "torch")
    return SamplesDraft(name, f"tests/ops/samples/{name}.py", _generator(operator, name))


def _arguments(schema: FunctionSchema) -> list[tuple[str, str]]:
    return [
        (str(a.type).replace("SymInt", "int"), "" if str(a.type) == "Tensor" else a.name)
        for a in schema.arguments.flat_all
    ]


def _generator(operator: Operator, name: str) -> str:
    arguments = operator.schema.arguments
    required = [_value(a) for a in arguments.positional if not a.has_default]
    required += [f"{a.name}={_value(a)}" for a in arguments.kwarg_only if not a.has_default]
    every = [_value(a) for a in arguments.positional] + [
        f"{a.name}={_value(a)}" for a in arguments.kwarg_only
    ]
    calls = [
        f"        yield SampleInput({', '.join(values)})"
        for values in dict.fromkeys((tuple(required), tuple(every)))
    ]
    return "\n".join(
        [
            f'"""Arguments of {operator.name}."""',
            "",
            "from __future__ import annotations",
            "",
            "from collections.abc import Iterator",
            "",
            "from tests.ops.samples.make import Make",
            "from tests.ops.samples.registry import SampleInput, samples",
            "",
            "",
            f'@samples("{name}")',
            f"def {name}(make: Make) -> Iterator[SampleInput]:",
            "    for shape in ((2, 3), (), (0,), (3, 1, 5)):",
            *calls,
            "",
        ]
    )


def _value(argument: Argument) -> str:
    """A value of the type; its author knows better ones."""
    value = {
        "Tensor": "make(*shape)",
        "int": "1",
        "SymInt": "1",
        "float": "0.5",
        "Scalar": "2",
        "bool": "True",
        "SymBool": "True",
        "str": '"text"',
    }.get(argument.type.base.name, "None")
    if value == '"text"' and argument.has_default and isinstance(argument.default_value, str):
        value = json.dumps(argument.default_value)
    if argument.name == "dim" and value == "1":  # the one dimension that every shape has
        value = "-1"
    return f"[{value}]" if argument.type.is_list and value != "None" else value


def entry_text(operator: Operator, expr: str | None, program: Program | None, samples: str) -> str:
    """The YAML of the draft, indented as in a topic, with examples for what only its author knows."""
    structure = operator.structure
    module = implied.python_module(operator.schema)
    lines = [f"- func: {operator.schema}"]
    if operator.arguments.self_argument is not None and module == "torch":
        lines.append("  variants: function, method")
    lines.append(f"  structure: {structure}")

    if structure not in ALL_STRUCTURES:
        lines.append(f"  dtypes: {_dtypes(program, structure, expr is not None)}")
    if expr is not None:
        lines.append(f"  expr: {json.dumps(expr, ensure_ascii=False)}")
    if expr is None and structure not in ALL_STRUCTURES and operator.tensor_arguments:
        lines += _derivatives(operator, program)
    if samples != implied.samples(operator.schema, module):
        lines.append(f"  samples: {samples}")
    lines += ["  doc: |", f"    Computes {operator.unambiguous_name}."]
    return "".join(f"    {line}\n" for line in lines)


def _derivatives(operator: Operator, program: Program | None) -> list[str]:
    """Placeholders that make backward fail until someone writes the formulas: a wrong one would go
    unnoticed."""
    can_refuse = program is not None and program.by_base_name(_UNWRITTEN) and operator.structure != "mutation"
    grad = (
        "grad"
        if len(operator.schema.returns) == 1 and not operator.schema.returns[0].type.is_list
        else "grads[0]"
    )
    lines = ["  derivatives:  # TODO: formulas such as grad * other, or non_differentiable"]
    for argument in operator.tensor_arguments:
        refused = f'{_UNWRITTEN}({grad}, "{operator.name}", "{argument.name}")'
        lines.append(
            f"    {argument.name}: "
            f"{refused if can_refuse and not argument.type.is_list else 'non_differentiable'}"
        )
    return lines


def _dtypes(program: Program | None, structure: str, is_formula: bool) -> str:
    """The set that entries like this one name most, of those whose every member has a derivative."""
    sets = {} if program is None else program.all_dtype_sets()
    fitting = [name for name, found in sets.items() if all("float" in dtype for dtype in found.members)]
    if not fitting or program is None:
        return "float32, float64"
    alike = [
        o.dtype_sets[0]
        for o in program
        if o.structure == structure and (o.expr is not None) == is_formula and len(o.dtype_sets) == 1
    ]
    return max(fitting, key=alike.count)


def kernel_stubs(operator: Operator) -> list[Stub]:
    """The functions that a new entry names."""
    key, kernel = implied.kernel(operator.schema, operator.structure)
    stubs = [_kernel_stub(operator, kernel, key)]
    if operator.structure == "shaped":
        stubs.append(_shape_stub(operator, implied.shape_rule(operator.schema)))
    return stubs


def missing_stubs(operator: Operator) -> list[Stub]:
    """Of an entry that is there already: what it names and nobody has written."""
    missing = {d.kernel: d.key for d in operator.dispatch if d.definition is None}
    stubs = [_kernel_stub(operator, kernel, key) for kernel, key in missing.items()]
    if operator.shape is not None and operator.shape_definition is None:
        stubs.append(_shape_stub(operator, operator.shape))
    return stubs


def _kernel_stub(operator: Operator, kernel: str, key: str) -> Stub:
    loops = "aten/iteration/ReductionLoops.h" if operator.structure == "reduction" else Stub.include
    return Stub(kernel, kernel_file(operator, key), kernel_signature(operator, kernel, key), loops)


def _shape_stub(operator: Operator, rule: str) -> Stub:
    return Stub(rule, shape_file(operator), shape_signature(operator, rule))
