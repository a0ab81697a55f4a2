"""Drafts an entry, its C++ functions and its samples; guesses follow the entries most like the new one."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from dataclasses import dataclass

from codegen.model import Operator, Program, implied
from codegen.model.checks.drafts import UNWRITTEN_DOC
from codegen.output.layout import CPP_WIDTH, wrap_cpp
from codegen.schema import Argument, FunctionSchema
from codegen.targets.torch_py.cli import bodies
from codegen.targets.torch_py.cpp import kernel_signature, shape_signature
from codegen.targets.torch_py.dialect import implied_kernel, implied_module
from codegen.targets.torch_py.keys import ALL_STRUCTURES, CUDA_KEY
from codegen.targets.torch_py.rooms import kernel_file, samples_file, shape_file

# The operator that derivatives of a draft call: it raises NotImplementedError in backward.
_UNWRITTEN = "_refuse_gradient"
# Gives the gradient of a reduction the shape of self.
_EXPANDED = "_expand_reduced"
# The types of arguments that a loop over elements takes.
_OF_ELEMENTS = ("Tensor", "float", "Scalar", "int", "bool")
# The header with the loops of a structure, on the CPU or for CUDA.
_LOOPS = {
    ("reduction", False): "aten/iteration/ReductionLoops.h",
    ("pointwise", True): "aten/native/cuda/Elementwise.cuh",
    ("reduction", True): "aten/native/cuda/Reduce.cuh",
}


@dataclass(frozen=True)
class Stub:
    """A C++ function that an entry names, to be written into ``path``."""

    symbol: str
    path: str
    signature: str
    include: str = "aten/iteration/Loops.h"  # for the body
    body: tuple[str, ...] = ()
    helpers: str = ""  # what the body needs above the function

    @property
    def text(self) -> str:
        lines = "\n".join(wrap_cpp(line) if len(line) > CPP_WIDTH else line for line in self.body)
        return f"{self.helpers}{wrap_cpp(self.signature + ' {')}\n{lines}\n}}\n"


@dataclass(frozen=True)
class SamplesDraft:
    """The name of a generator of arguments. If no existing one fits, ``text`` is a new one for ``path``."""

    name: str
    path: str = ""
    text: str = ""


def structure_like(schema: FunctionSchema) -> str:
    """The structure that arguments and results suggest."""
    arguments = schema.arguments.flat_all
    names = {argument.name for argument in arguments}
    if len(schema.returns) < 2 and schema.is_mutable:
        return "mutation"
    if len(schema.returns) < 2 and schema.is_view:
        return "view"

    # Lists, tensors that may be missing, and results that are not tensors: made of other operators.
    is_plain = not schema.is_mutable and not schema.is_view
    is_plain &= all(a.type.is_plain("Tensor") for a in schema.arguments.tensors)
    are_tensors = all(str(result.type) == "Tensor" for result in schema.returns)
    if not schema.arguments.tensors or not is_plain or not are_tensors or not schema.returns:
        return "composite"
    if len(schema.returns) > 1:
        return "shaped"
    if {"dim", "keepdim"} <= names:
        return "reduction"

    of_elements = all(any(a.type.is_plain(kind) for kind in _OF_ELEMENTS) for a in arguments)
    return "pointwise" if of_elements and "dim" not in names else "composite"


def topic_like(schema: FunctionSchema, structure: str, program: Program | None) -> str:
    """The topic of the entries most like the new one in name, module, structure and arguments."""
    operators = [] if program is None else list(program)
    if not operators:
        return "Operators" if program is None or not program.topics else list(program.topics)[-1]

    matcher = difflib.SequenceMatcher()
    matcher.set_seq2(schema.base_name)

    def likeness(operator: Operator) -> float:
        matcher.set_seq1(operator.base_name)
        alike = matcher.ratio() if matcher.real_quick_ratio() > 0.6 else 0.0
        same_name = 2 * (alike > 0.7) * alike
        same_module = operator.python_module == implied_module(schema)
        same_structure = 1.5 * (operator.structure == structure)
        same_types = _types(operator.schema) == _types(schema)
        return same_name + same_module + same_structure + same_types

    # Of several topics with equally similar entries, the one that has most of them.
    best = max(map(likeness, operators))
    return Counter(o.topic for o in operators if likeness(o) == best).most_common(1)[0][0]


def _types(schema: FunctionSchema) -> list[str]:
    return [str(a.type).replace("SymInt", "int") for a in schema.arguments.flat_all]


def samples_for(operator: Operator, program: Program | None) -> SamplesDraft:
    """A generator for arguments of the same types and names, or a draft of one.

    The names of tensors may differ, as samples pass tensors by position.
    """
    if operator.python_module == "private":
        return SamplesDraft(implied.PRIVATE_SAMPLES)
    if _arguments(operator.schema) == [("Tensor", "")]:
        return SamplesDraft("unary")

    general = None if program is None else _general_samples(operator, program)
    if general is not None:
        return SamplesDraft(general)

    name = implied.samples(operator.schema, "torch")
    return SamplesDraft(name, samples_file(operator), _generator(operator, name))


def _general_samples(operator: Operator, program: Program) -> str | None:
    """The generator that most topics use for arguments like those of ``operator``."""
    wanted = _arguments(operator.schema)
    public = (
        o for o in program if o.python_module != "private" and o.samples and o.structure == operator.structure
    )
    alike = [o for o in public if _arguments(o.schema) == wanted]
    users = {
        name: [o for o in program if o.samples == name] for name in dict.fromkeys(o.samples for o in alike)
    }

    # A generator that serves a single operator may draw values that suit no other.
    general = [name for name, found in users.items() if name and len({o.base_name for o in found}) > 1]
    return max(
        general, key=lambda name: (len({o.topic for o in users[name]}), len(users[name])), default=None
    )


def _arguments(schema: FunctionSchema) -> list[tuple[str, str]]:
    """Type and name of each argument; tensors have no name."""
    return [
        (str(a.type).replace("SymInt", "int"), "" if str(a.type) == "Tensor" else a.name)
        for a in schema.arguments.flat_all
    ]


def _generator(operator: Operator, name: str) -> str:
    """A generator that passes the required arguments, then all of them, for tensors of several shapes."""
    arguments = operator.schema.arguments

    required = [_value(a) for a in arguments.positional if not a.has_default]
    required += [f"{a.name}={_value(a)}" for a in arguments.kwarg_only if not a.has_default]
    every = [_value(a) for a in arguments.positional]
    every += [f"{a.name}={_value(a)}" for a in arguments.kwarg_only]

    calls = [
        f"        yield SampleInput({', '.join(values)})"
        for values in dict.fromkeys((tuple(required), tuple(every)))
    ]
    return "\n".join(
        [
            f'@samples("{name}")',
            f"def {name}(make: Make) -> Iterator[SampleInput]:",
            "    for shape in ((2, 3), (), (0,), (3, 1, 5)):",
            *calls,
            "",
        ]
    )


def _value(argument: Argument) -> str:
    """A value of the argument's type, as Python text; its author may know better ones."""
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
    if argument.name == "dim" and value == "1":  # a dimension that every shape has
        value = "-1"

    return f"[{value}]" if argument.type.is_list and value != "None" else value


def entry_text(
    operator: Operator, expr: str | None, program: Program | None, samples: str, cuda: bool = False
) -> str:
    """The YAML of the entry, indented as in a topic, with placeholders for what only its author knows."""
    structure = operator.structure
    module = operator.python_module
    lines = [f"- func: {operator.schema}"]
    variants = _variants(operator)
    if variants != ("function",):
        lines.append(f"  variants: {', '.join(variants)}")
    if module != implied_module(operator.schema):
        lines.append(f"  python_module: {module}")
    lines.append(f"  structure: {structure}")

    if structure not in ALL_STRUCTURES:
        lines.append(f"  dtypes: {', '.join(operator.dtype_sets)}")
    if cuda:
        _, kernel = implied_kernel(operator.schema, structure)
        lines += ["  dispatch:", f"    CPU, CUDA: {kernel}"]
    if expr is not None:
        lines.append(f"  expr: {json.dumps(expr, ensure_ascii=False)}")
    if expr is None and structure not in ALL_STRUCTURES and operator.tensor_arguments:
        lines += _derivatives(operator, program)
    if samples != implied.samples(operator.schema, module):
        lines.append(f"  samples: {samples}")
    lines += ["  doc: |", f"    {UNWRITTEN_DOC}: what ``{operator.python_name}`` computes, in a sentence."]
    return "".join(f"    {line}\n" for line in lines)


def _variants(operator: Operator) -> tuple[str, ...]:
    own = operator.arguments.self_argument
    is_method = own is not None and not own.type.is_list and operator.python_module == "torch"
    if not operator.is_function:
        return operator.variants
    found = ["function", *(["method"] if is_method else []), *(["out"] if operator.has_out else [])]
    return tuple(found)


def _example(operator: Operator, program: Program | None) -> str:
    """A formula that shows how gradients of the structure begin: those of reductions get their shape back."""
    names = operator.arguments.names()
    reduces = operator.structure == "reduction" and {"self", "dim", "keepdim"} <= {*names}
    if reduces and program is not None and program.by_base_name(_EXPANDED):
        return f"{_EXPANDED}(grad, self.sizes(), dim, keepdim) * self"
    return "grad * other"


def _derivatives(operator: Operator, program: Program | None) -> list[str]:
    """Placeholders that make backward fail until someone writes the formulas.

    A guessed formula that is wrong could go unnoticed.
    """
    can_refuse = program is not None and program.by_base_name(_UNWRITTEN)
    written = [a for a in operator.tensor_arguments if a.is_write]
    if operator.structure == "mutation" and (not can_refuse or any(a.type.is_list for a in written)):
        return ["  non_differentiable: what it writes is not recorded yet"]
    returns = operator.schema.returns
    grad = "grad" if len(returns) == 1 and not returns[0].type.is_list else "grads[0]"

    lines = [f"  derivatives:  # TODO: formulas such as {_example(operator, program)}, or non_differentiable"]
    for argument in operator.tensor_arguments:
        formula = "non_differentiable"
        if can_refuse and not argument.type.is_list and returns:
            formula = f'{_UNWRITTEN}({grad}, "{operator.name}", "{argument.name}")'
        lines.append(f"    {argument.name}: {formula}")
    return lines


def dtypes_like(program: Program | None, structure: str, is_formula: bool) -> tuple[str, ...]:
    """The set of floating point dtypes that most entries of this structure name."""
    sets = {} if program is None else program.all_dtype_sets()
    fitting = [name for name, found in sets.items() if all("float" in dtype for dtype in found.members)]
    if not fitting or program is None:
        return ("float32", "float64")

    alike = [
        o.dtype_sets[0]
        for o in program
        if o.structure == structure and (o.expr is not None) == is_formula and len(o.dtype_sets) == 1
    ]
    return (max(fitting, key=alike.count),)


def kernel_stubs(operator: Operator, cuda: bool = False) -> list[Stub]:
    """The C++ functions that a new entry names, with its kernel for CUDA if that is wanted."""
    key, kernel = implied_kernel(operator.schema, operator.structure)
    stubs = [_kernel_stub(operator, kernel, key)]
    if cuda:
        stubs.append(_kernel_stub(operator, kernel, CUDA_KEY))
    if operator.structure == "shaped":
        stubs.append(_shape_stub(operator, implied.shape_rule(operator.schema)))
    return stubs


def missing_stubs(operator: Operator) -> list[Stub]:
    """The C++ functions that an existing entry names and that are not written yet."""
    missing = {(d.kernel, d.key == CUDA_KEY): d.key for d in operator.dispatch if d.definition is None}
    stubs = [_kernel_stub(operator, kernel, key) for (kernel, _), key in missing.items()]
    if operator.shape is not None and operator.shape_definition is None:
        stubs.append(_shape_stub(operator, operator.shape))
    return stubs


def _kernel_stub(operator: Operator, kernel: str, key: str) -> Stub:
    loops = _LOOPS.get((operator.structure, key == CUDA_KEY), Stub.include)
    return Stub(
        kernel,
        kernel_file(operator, key),
        kernel_signature(operator, kernel, key),
        loops,
        tuple(bodies.body(operator, kernel, key)),
        bodies.helpers(operator, kernel, key),
    )


def _shape_stub(operator: Operator, rule: str) -> Stub:
    refusal = tuple(bodies.body(operator, rule, "Meta"))
    return Stub(rule, shape_file(operator), shape_signature(operator, rule), body=refusal)
