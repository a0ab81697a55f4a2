"""Lets the checker judge drafts, as if they were in the file, and marks what it refuses for the author."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from codegen.diagnostics import Diagnostic, Diagnostics, Location
from codegen.model import Kernel, Operator, Program, read_program
from codegen.schema import FunctionSchema
from codegen.targets.torch_py.cli.drafts import dtypes_like, kernel_stubs, samples_for, topic_like
from codegen.targets.torch_py.cli.insertion import with_entry
from codegen.targets.torch_py.importing.declarations import Declaration
from codegen.targets.torch_py.importing.drafts import REFUSAL, Draft, gradients_of, module_of, structures_of
from codegen.yaml.entries import blanked, entry_spans

# Generators of arguments and documentation are for the author, and no mistake of the draft.
_EXPECTED = ("unknown samples", "the entry has no 'samples'", "no entry claims")


class Checker:
    """Checks drafts against the file at ``path``."""

    def __init__(self, path: Path, program: Program, base: Program | None) -> None:
        self.path = path
        self.program = program
        self.base = base

    def draft(self, declaration: Declaration) -> Draft:
        """Raises SchemaError for a schema with types that there are not here."""
        schema = _without_argument_grad(FunctionSchema.parse(declaration.schema))
        declaration = self._without_declared_forms(declaration, schema)
        structures = structures_of(declaration, schema)

        existing = self.program.operators.get(schema.unambiguous_name)
        topic = existing.topic if existing else topic_like(schema, structures[0], self.program)
        chapter = next((o.chapter for o in self.program if o.topic == topic), "")

        operator = Operator(
            schema=schema,
            topic=topic,
            structure=structures[0],  # type: ignore[arg-type]
            python_module=module_of(declaration, schema),
            location=Location("", 0, 0),
            key_locations={},
            entry_text="",
            chapter=chapter,
        )

        return Draft(
            declaration,
            schema,
            operator,
            structures,
            gradients_of(declaration, schema),
            samples_for(operator, self.program),
            dtypes_like(self.program, structures[0], False),
            bool(self.program.by_base_name(REFUSAL)),
        )

    def _without_declared_forms(self, declaration: Declaration, schema: FunctionSchema) -> Declaration:
        """Without a form in place that has an entry of its own."""
        base, _, overload = str(schema.name).partition(".")
        inplace = self.program.operators.get(f"{base}__{overload}" if overload else f"{base}_")
        if inplace is None and schema.arguments.self_argument is not None:
            return declaration
        return replace(declaration, variants=declaration.variants - {"inplace"})

    def settle(self, drafts: list[Draft]) -> None:
        """Tries structures, and marks formulas and entries that the checker refuses."""
        pending = drafts
        while pending:
            found = self.problems(drafts)
            pending = [draft for draft in pending if self._react(draft, found[str(draft.schema.name)])]

    def _react(self, draft: Draft, problems: list[tuple[str, Diagnostic]]) -> bool:
        """Whether the draft is now another one, which is to be checked again."""
        refused = {line for line, _ in problems if _refuse_formula(draft, line)}
        others = [problem for line, problem in problems if line not in refused]
        if others and len(draft.structures) > 1:
            draft.structures.pop(0)
            draft.operator = replace(draft.operator, structure=draft.structure)  # type: ignore[arg-type]
            # A formula that was refused together with the structure may be right with the next one.
            draft.gradients = gradients_of(draft.declaration, draft.schema)
            return True
        draft.problems = [f"{problem.message}; {problem.hint}" for problem in others]
        return bool(refused)

    def problems(self, drafts: list[Draft]) -> dict[str, list[tuple[str, Diagnostic]]]:
        """What the checker reports of each draft, with the line of the draft that it is about."""
        text = self._without(drafts)
        for draft in drafts:
            text = with_entry(text, draft.operator.topic, draft.text, draft.operator.chapter)
        stubs = [stub for draft in drafts for stub in kernel_stubs(draft.operator)]
        planned = [Kernel(stub.symbol, stub.path, 1, False, stub.signature) for stub in stubs]

        problems = Diagnostics()
        read_program(self.path, problems, self.base, text=text, planned=planned)
        lines = text.splitlines()
        found: dict[str, list[tuple[str, Diagnostic]]] = {str(draft.schema.name): [] for draft in drafts}
        for problem in problems.sorted():
            if problem.operator in found and not problem.message.startswith(_EXPECTED):
                found[problem.operator].append((lines[problem.location.line - 1].strip(), problem))
        return found

    def _without(self, drafts: Iterable[Draft]) -> str:
        """The text of the file without the entries that drafts are about."""
        text = self.path.read_text(encoding="utf-8")
        found = (self.program.operators.get(draft.schema.unambiguous_name) for draft in drafts)
        existing = {f"- func: {o.schema.name}(" for o in found if o is not None and o.each is None}
        for span in entry_spans(text):
            start = text[span[0] : span[1]].lstrip().partition("(")[0]
            if f"{start}(" in existing:
                text = blanked(text, span)
        return text


def _without_argument_grad(schema: FunctionSchema) -> FunctionSchema:
    """``grad`` is the gradient in formulas, so an argument of that name gets another one."""
    if "grad" not in schema.arguments.names():
        return schema
    return FunctionSchema.parse(re.sub(r"\bgrad\b", "grad_output", str(schema)))


def _refuse_formula(draft: Draft, line: str) -> bool:
    """Marks the gradient in ``line``; False for other lines."""
    for gradient in draft.gradients:
        if gradient.ours is not None and line.startswith(f"{', '.join(gradient.inputs)}: {gradient.ours}"):
            gradient.ours = None
            return True
    return False
