"""Drafts an entry from a declaration. What its author has to decide is marked with TODO."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codegen.expressions.nodes import Index, Name, Node, Number
from codegen.model import Operator, implied
from codegen.model.vocabulary import INPLACE_STRUCTURES, OUT_STRUCTURES, VARIANTS
from codegen.schema import FunctionSchema
from codegen.targets.torch_py.cli.drafts import SamplesDraft, structure_like
from codegen.targets.torch_py.dialect import implied_module
from codegen.targets.torch_py.importing.declarations import Declaration
from codegen.targets.torch_py.importing.formulas import translated
from codegen.targets.torch_py.keys import ALL_STRUCTURES
from codegen.targets.torch_py.python_modules import PYTHON_MODULES

TODO = "# TODO"
# What a derivative calls that is not written yet.
REFUSAL = "_refuse_gradient"
_COMPOSITE = "CompositeImplicitAutograd"


@dataclass
class Gradient:
    """The formula of one or several arguments: ours, if it could be translated, and theirs."""

    inputs: tuple[str, ...]
    ours: str | None
    theirs: str


@dataclass
class Draft:
    """An entry in the making."""

    declaration: Declaration
    schema: FunctionSchema
    operator: Operator  # with the fields that signatures need
    structures: list[str]  # the likely ones, the first being tried
    gradients: list[Gradient]
    samples: SamplesDraft
    dtypes: tuple[str, ...]
    can_refuse: bool  # whether there is the operator that raises an error in backward
    problems: list[str] = field(default_factory=list)  # of the whole entry, for the author

    @property
    def structure(self) -> str:
        return self.structures[0]

    @property
    def text(self) -> str:
        """The YAML of the entry, indented as in a topic."""
        lines = [f"{TODO}: {problem}" for problem in self.problems]
        lines += [f"- func: {self.schema}"]
        variants = self._variants()
        if variants != ("function",):
            lines.append(f"  variants: {', '.join(variants)}")
        if self.operator.python_module != implied_module(self.schema):
            lines.append(f"  python_module: {self.operator.python_module}")
        lines.append(f"  structure: {self.structure}{self._structure_note()}")
        if self.structure not in ALL_STRUCTURES and self.structure != "dynamic":
            lines.append(f"  dtypes: {', '.join(self.dtypes)}  {TODO}: a guess; name what the kernel takes")

        lines += self._gradients()
        if self.samples.name != implied.samples(self.schema, self.operator.python_module):
            lines.append(f"  samples: {self.samples.name}")
        lines += ["  doc: |", f"    TODO: what ``{self.operator.python_name}`` computes, in a sentence."]
        return "".join(f"    {line}\n" for line in lines)

    def _structure_note(self) -> str:
        return f"  {TODO}: a guess" if len(self.structures) > 1 else ""

    def _variants(self) -> tuple[str, ...]:
        wanted = set(self.declaration.variants)
        if self.structure not in INPLACE_STRUCTURES:
            wanted.discard("inplace")
        if self.structure not in OUT_STRUCTURES:
            wanted.discard("out")
        return tuple(word for word in VARIANTS if word in wanted) or ("function",)

    def _gradients(self) -> list[str]:
        tensors = [a for a in self.schema.arguments.tensors if a.spelling]
        if self.structure == "view" or not tensors:
            return []
        if not self.gradients:
            return self._no_gradients()

        lines = ["  derivatives:"]
        found = {name for gradient in self.gradients for name in gradient.inputs}
        for gradient in self.gradients:
            lines += self._gradient(gradient)
        lines += [f"    {a.name}: non_differentiable" for a in tensors if a.name not in found]
        return lines

    def _gradient(self, gradient: Gradient) -> list[str]:
        inputs = ", ".join(gradient.inputs)
        if gradient.ours is not None:
            return [f"    {inputs}: {gradient.ours}"]
        returns = self.schema.returns
        grad = "grad" if len(returns) == 1 and not returns[0].type.is_list else "grads[0]"
        lines = [f"    {TODO}: theirs is {' '.join(gradient.theirs.split())}"]
        for name in gradient.inputs:
            argument = self.schema.arguments.find(name)
            assert argument is not None
            refusal = f'{REFUSAL}({grad}, "{self.schema.name}", "{name}")'
            has_refusal = self.can_refuse and not argument.type.is_list
            lines.append(f"    {name}: {refusal if has_refusal else 'non_differentiable'}")
        return lines

    def _no_gradients(self) -> list[str]:
        """Compositions have the gradients of what they call."""
        if self.structure == "composite" and _is_composite(self.declaration):
            return []
        return ['  non_differentiable: "TODO: why, or derivatives"']


def _is_composite(declaration: Declaration) -> bool:
    return not declaration.dispatch or any(key.startswith(_COMPOSITE) for key in declaration.dispatch)


def structures_of(declaration: Declaration, schema: FunctionSchema) -> list[str]:
    """The structures that fit, the likeliest first."""
    guess = structure_like(schema)
    if guess in ("mutation", "view"):
        return [guess, "composite"]
    if _is_composite(declaration) and not declaration.gradients:
        return ["composite"]
    if {"dynamic_output_shape", "data_dependent_output"} & declaration.tags:
        return ["dynamic", "composite"]
    if all(key.startswith("CompositeExplicit") for key in declaration.dispatch) and declaration.dispatch:
        return ["composite", "shaped", "dynamic"]

    likely = []
    if guess == "pointwise" and declaration.is_loop or guess == "reduction":
        likely.append(guess)
    return [*likely, "shaped", "dynamic", "composite"]


def module_of(declaration: Declaration, schema: FunctionSchema) -> str:
    """The word of ``python_module``; modules that there are no functions of become torch."""
    word = declaration.module
    return word if word is not None and word in PYTHON_MODULES else implied_module(schema)


def gradients_of(declaration: Declaration, schema: FunctionSchema) -> list[Gradient]:
    results = _result_names(schema)
    arguments = schema.arguments.names()
    found = []
    for names, theirs in declaration.gradients.items():
        inputs = tuple(_renamed(name.strip()) for name in names.split(","))
        if not set(inputs) <= set(arguments):
            continue  # of results, for forward mode
        if theirs == "non_differentiable":
            found.append(Gradient(inputs, theirs, theirs))
        else:
            found.append(Gradient(inputs, translated(theirs, results), theirs))
    return found


def _renamed(argument: str) -> str:
    """An argument called ``grad`` has another name here."""
    return "grad_output" if argument == "grad" else argument


def _result_names(schema: FunctionSchema) -> Mapping[str, Node]:
    """What we write for the results and the gradient of the first, by their names."""
    returns = schema.returns
    if len(returns) < 2:
        return {r.name: Name("result") for r in returns if r.name}
    named: dict[str, Node] = {r.name: Name(f"result{i}") for i, r in enumerate(returns) if r.name}
    return {**named, "grad": Index(Name("grads"), Number(0))}
