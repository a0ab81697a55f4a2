"""Reads one entry of the file into an Operator.

Reading goes on after a mistake with the nearest thing that makes sense, so that one run reports everything;
only an entry whose ``func:`` cannot be read gives no operator. Checks of several keys at once are in
model/checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from codegen.diagnostics import Diagnostics, Location, closest, did_you_mean
from codegen.dialect import PRIVATE, Dialect
from codegen.model import implied, vocabulary
from codegen.model.autocast import Autocast
from codegen.model.dtypes import dtype_hint
from codegen.model.former_names import former_module
from codegen.model.history import HistoryReader
from codegen.model.kernels import KernelIndex
from codegen.model.named import Names
from codegen.model.operator import (
    Derivative,
    DispatchEntry,
    Formula,
    Operator,
    Rename,
    Requirement,
    Structure,
)
from codegen.model.program import DtypeSet
from codegen.model.requirements import Report, RequirementReader
from codegen.model.taken_names import TakenNames
from codegen.model.text import entry_text
from codegen.model.words import Word, split_words, words
from codegen.schema import FunctionSchema, SchemaError
from codegen.yaml import ListValue, MapValue, Text, Value, kind_of


@dataclass
class Context:
    """Everything that entries of a file refer to."""

    problems: Diagnostics
    root: Path  # the folder of the file
    dtype_sets: Mapping[str, DtypeSet]
    kernels: KernelIndex
    samples: frozenset[str] | None
    taken: TakenNames
    library: str | None
    dialect: Dialect
    texts: dict[Location, Text]  # schemas, formulas and messages by location, to find an offset inside them
    lists: dict[Location, Value]  # lists of words by location, to find one of them
    requirements: Names[Requirement]
    reasons: Names[str]  # of missing gradients
    version: str | None  # of what is built from the file


class EntryReader:
    """Reads one entry; ``label`` is how diagnostics call it."""

    def __init__(self, entry: MapValue, topic: str, context: Context, chapter: str = "") -> None:
        self.entry = entry
        self.topic = topic
        self.chapter = chapter
        self.context = context
        self.values: dict[str, Value] = {key.text: value for key, value in entry}
        self.misspelled: dict[str, Location] = {}  # known keys that unknown ones were meant to be
        func = self.values.get("func")
        self.label = (
            func.text.split("(")[0].strip() if isinstance(func, Text) and func.text.strip() else topic
        )

    @property
    def dialect(self) -> Dialect:
        return self.context.dialect

    @property
    def history(self) -> HistoryReader:
        # Made when it is needed: kept, it would refer back, and an entry's YAML would wait for a collection.
        return HistoryReader(self.report, self.context.version)

    def report(self, location: Location, message: str, hint: str) -> None:
        self.context.problems.report(location, self.label, message, hint)

    def read(self) -> Operator | None:
        self.check_keys()
        schema = self.schema()
        structure = self.structure()
        dtypes, dtype_sets = self.dtypes()

        # Read even where the schema is broken, for their own problems.
        fields = {**self.names(schema), **self.behaviour(schema, structure)}
        if schema is None:
            return None

        rule = fields["shape"]
        return Operator(
            schema=schema,
            topic=self.topic,
            chapter=self.chapter,
            structure=structure,
            dtypes=dtypes,
            dtype_sets=dtype_sets,
            shape_definition=self.context.kernels.find(rule) if rule else None,
            library=self.context.library,
            location=self.values["func"].location,
            key_locations={**self.misspelled, **{k: v.location for k, v in self.values.items()}},
            entry_text=entry_text(self.entry),
            **fields,
        )

    def names(self, schema: FunctionSchema | None) -> dict[str, Any]:
        """The fields that say where a user finds the operator, what it is called, and what it is for."""
        dialect = self.dialect
        module = dialect.modules[0] if schema is None else implied.python_module(schema, dialect)
        module = self.choice("python_module", dialect.modules, module)
        variants = self.choices("variants", vocabulary.VARIANTS, ("function",))

        return {
            "variants": variants,
            "python_module": module,
            "place": dialect.place_of(module) if "function" in variants else dialect.method_place,
            "aliases": self.aliases(),
            "since": self.history.version_of(self.values.get("since"), "since"),
            "renamed": self.renamed(schema, module),
            "deprecated": self.history.deprecation(self.values.get("deprecated")),
            "deprecated_orders": self.deprecated_orders(schema),
            "samples": self.samples(schema, module),
            "doc": self.doc(),
        }

    def behaviour(self, schema: FunctionSchema | None, structure: Structure) -> dict[str, Any]:
        """The fields that say what the operator computes, and how."""
        implied_out_dtype = implied.out_dtype(schema, structure) if schema else "exact"
        return {
            "promotion": self.promotion(structure),
            "scalars": tuple(word.text for word in self.words("scalars")),
            "dispatch": self.dispatch(schema, structure),
            "shape": self.shape(schema, structure),
            "derivatives": self.derivatives(),
            "non_differentiable": self.non_differentiable(),
            "expr": self.formula("expr"),
            "lowering": self.formula("lowering"),
            "reference": self.reference(),
            "requires": self.requires(schema),
            "tags": self.choices("tags", self.dialect.tags, ()),
            "reads": tuple(word.text for word in self.words("reads")),
            "autocast": self.autocast(),
            "out_dtype": self.choice("out_dtype", vocabulary.OUT_DTYPES, implied_out_dtype),
        }

    def check_keys(self) -> None:
        known = [key for key in vocabulary.ENTRY_KEYS if key not in self.dialect.unused_keys]
        for key, value in self.entry:
            if key.text not in known:
                # The key that was meant counts as present: its absence is not reported as well.
                meant = closest(key.text, known)
                if meant is not None and meant not in self.values:
                    self.misspelled[meant] = value.location
                self.report(
                    key.location,
                    f"unknown key '{key.text}'",
                    did_you_mean(key.text, known, 20),
                )

    # Plain values

    def text(self, key: str) -> str | None:
        """The text of ``key``, stripped; None if the key is absent, empty or not a text."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, Text):
            self.report(value.location, f"'{key}' is a {kind_of(value)}", f"write {key}: and text behind it")
            return None
        if not value.text.strip():
            self.report(value.location, f"'{key}' is empty", f"write a value, or remove '{key}'")
            return None
        return value.text.strip()

    def words(self, key: str) -> list[Word]:
        found = words(self.values.get(key), self.label, key, self.context.problems)
        value = self.values.get(key)
        if not found and isinstance(value, Text) or isinstance(value, ListValue) and not value.items:
            self.report(value.location, f"'{key}' is empty", f"write a value, or remove '{key}'")
        if value is not None:
            self.context.lists[value.location] = value
        return found

    def aliases(self) -> tuple[str, ...]:
        found = self.words("aliases")

        for word in found:
            *place, name = word.text.split(".")
            if len(place) > 1 or not name.isidentifier():
                self.report(word.location, f"alias '{word.text}' is not a name", "write name, or module.name")
            elif place and place[0] not in self.dialect.alias_places:
                self.report(
                    word.location,
                    f"alias '{word.text}': unknown module '{place[0]}'",
                    did_you_mean(place[0], self.dialect.alias_places),
                )

        return tuple(word.text for word in found)

    def renamed(self, schema: FunctionSchema | None, module: str) -> tuple[Rename, ...]:
        found = self.history.renames(self.values.get("renamed"))
        if schema is None:
            return ()
        return tuple(
            replace(rename, module=former_module(schema, module, rename.name, self.dialect))
            for rename in found
        )

    def deprecated_orders(self, schema: FunctionSchema | None) -> tuple[tuple[str, ...], ...]:
        """``self, alpha, other``, or a list of such orders."""
        value = self.values.get("deprecated_orders")
        if value is None:
            return ()

        items = list(value) if isinstance(value, ListValue) else [value]
        if not items:
            hint = "write an order of arguments, or remove 'deprecated_orders'"
            self.report(value.location, "'deprecated_orders' is empty", hint)

        orders = (words(item, self.label, "deprecated_orders", self.context.problems) for item in items)
        return tuple(self.deprecated_order(order, schema) for order in orders)

    def deprecated_order(self, order: list[Word], schema: FunctionSchema | None) -> tuple[str, ...]:
        arguments = [] if schema is None else list(schema.arguments.flat_all)
        known = [a.spelling for a in arguments]
        given = tuple(word.text for word in order)

        for word in order:
            if schema is not None and word.text not in known:
                self.report(
                    word.location, f"'{word.text}' is not an argument", did_you_mean(word.text, known)
                )

        present = tuple(known[: len(given)])
        if order and given == present:
            what = "this is the present order of arguments"
            self.report(order[0].location, what, "write the former one, or remove 'deprecated_orders'")

        for argument in arguments:
            if order and not argument.has_default and argument.spelling not in given:
                self.report(
                    order[0].location,
                    f"the deprecated order leaves out '{argument.spelling}', which has no default",
                    f"add {argument.spelling}",
                )
        return given

    def choice(self, key: str, known: tuple[str, ...], default: str) -> str:
        found = self.text(key)
        if found is None:
            return default
        if found not in known:
            self.report(self.values[key].location, f"unknown {key} '{found}'", did_you_mean(found, known))
            return default
        return found

    def choices(self, key: str, known: tuple[str, ...], default: tuple[str, ...]) -> tuple[str, ...]:
        """The known words of ``key`` in the order of ``known``."""
        found = self.words(key)
        for word in found:
            if word.text not in known:
                self.report(
                    word.location,
                    f"unknown {key.removesuffix('s')} '{word.text}'",
                    did_you_mean(word.text, known),
                )
        present = {word.text for word in found}
        return tuple(k for k in known if k in present) or default

    def identifier(self, key: str) -> str | None:
        found = self.text(key)
        if found is not None and not found.isidentifier():
            self.report(
                self.values[key].location,
                f"'{found}' is not a C++ identifier",
                f"write {key}: {self.topic.lower()}_shape",
            )
            return None
        return found

    def shape(self, schema: FunctionSchema | None, structure: Structure) -> str | None:
        found = self.identifier("shape")
        if "shape" in self.values or "shape" in self.misspelled or schema is None or structure != "shaped":
            return found
        if "expr" in self.values:  # the result has the sizes of the tensors
            return None
        return implied.shape_rule(schema)

    # func, structure, dtypes

    def schema(self) -> FunctionSchema | None:
        value = self.values.get("func")

        if value is None:
            if "func" not in self.misspelled:
                self.report(
                    self.entry.location,
                    "the entry has no 'func'",
                    "write func: name(Tensor self) -> Tensor as its first key",
                )
            return None

        if self.text("func") is None or not isinstance(value, Text):
            return None

        try:
            self.context.texts[value.location] = value
            return FunctionSchema.parse(value.text)
        except SchemaError as error:
            self.report(value.location_at(error.offset), error.message, error.hint)
            return None

    def structure(self) -> Structure:
        if "structure" not in self.values:
            if "structure" not in self.misspelled and "structure" in self.dialect.required:
                self.report(
                    self.entry.location,
                    "the entry has no 'structure'",
                    f"write structure: and one of {', '.join(vocabulary.STRUCTURES)}",
                )
            return "composite"
        return cast(Structure, self.choice("structure", vocabulary.STRUCTURES, "composite"))

    @property
    def has_structure(self) -> bool:
        """False when ``structure`` was guessed: what depends on it is then not worth reporting."""
        value = self.values.get("structure")
        return isinstance(value, Text) and value.text.strip() in vocabulary.STRUCTURES

    def promotion(self, structure: Structure) -> str | None:
        known = vocabulary.PROMOTIONS.get(structure, ())
        found = self.text("promotion")

        if found is None:
            return known[0] if known else None

        if not known:
            if self.has_structure:
                self.report(
                    self.values["promotion"].location,
                    f"'promotion' has no meaning for structure {structure}",
                    "remove it: only pointwise and reduction promote",
                )
            return None

        return self.choice("promotion", known, known[0])

    def dtypes(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        members: list[str] = []
        names: list[str] = []

        for word in self.words("dtypes"):
            dtype = self.dialect.canonical_dtype(word.text)
            if dtype is None and word.text not in self.context.dtype_sets:
                hint = dtype_hint(word.text, self.context.dtype_sets, self.dialect)
                self.report(word.location, f"unknown dtype or dtype set '{word.text}'", hint)
                continue

            added = (dtype,) if dtype is not None else self.context.dtype_sets[word.text].members
            if set(added) <= set(members):
                self.report(word.location, f"'{word.text}' is in {', '.join(names)} already", "remove it")
            members += added
            names.append(word.text)

        return self.dialect.in_canonical_order(members), tuple(names)

    # Maps

    def autocast(self) -> Autocast:
        """One word for all devices, or a map from devices to words."""
        value = self.values.get("autocast")
        if not isinstance(value, MapValue):
            word = self.choice("autocast", vocabulary.AUTOCASTS, "none")
            return Autocast(word, word)

        found: dict[str, str] = {}
        for keys, policy in self.map("autocast", "CUDA: float32") or ():
            word = policy.text.strip() if isinstance(policy, Text) else ""
            if word not in vocabulary.AUTOCASTS[1:]:
                hint = did_you_mean(word, vocabulary.AUTOCASTS[1:])
                self.report(policy.location, f"unknown autocast '{word}'", hint)
                continue
            for key in split_words(keys):
                self.autocast_key(key, word, found)
        if len(found) > 1 and len(set(found.values())) == 1:
            self.report(value.location, "'autocast' says the same for all devices", f"write autocast: {word}")
        return Autocast(**found)

    def autocast_key(self, key: Word, word: str, found: dict[str, str]) -> None:
        """Adds the word of one device to ``found``."""
        if key.text not in vocabulary.AUTOCAST_KEYS:
            hint = did_you_mean(key.text, vocabulary.AUTOCAST_KEYS)
            self.report(key.location, f"unknown device '{key.text}' of autocast", hint)
        elif key.text.lower() in found:
            hint = f"remove it here or at {found[key.text.lower()]}"
            self.report(key.location, f"the device '{key.text}' occurs twice", hint)
        else:
            found[key.text.lower()] = word

    def map(self, key: str, example: str) -> MapValue | None:
        value = self.values.get(key)

        if isinstance(value, MapValue) and not value.entries:
            self.report(
                value.location, f"'{key}' is empty", f"write below it, indented, {example}, or remove '{key}'"
            )

        if value is None or isinstance(value, MapValue):
            return value

        self.report(
            value.location,
            f"'{key}' is a {kind_of(value)}",
            f"write {key}: and below it, indented, {example}",
        )

        return None

    def dispatch(self, schema: FunctionSchema | None, structure: Structure) -> tuple[DispatchEntry, ...]:
        """The written kernels and the one that follows from the name."""
        found: dict[str, DispatchEntry] = {}
        for keys, kernel in self.map("dispatch", "CPU: name_kernel") or ():
            if isinstance(kernel, Text) and kernel.text.strip().isidentifier():
                for word in split_words(keys):
                    self.dispatch_key(word, kernel, found)
            else:
                message = "a dispatch entry names one C++ function"
                self.report(kernel.location, message, f"write {keys.text}: name_kernel")

        implied_kernel = self.dialect.implied_kernel
        if schema is not None and implied_kernel is not None and self.lacks_kernel(structure, found):
            key, name = implied_kernel(schema, structure)
            definition = self.context.kernels.find(name)
            # The kernel of one device alone is a mistake, which is reported as such.
            if definition is not None or found.keys() <= self.dialect.additional_keys:
                location = self.values["structure"].location
                found[key] = DispatchEntry(key, name, definition, location, is_implied=True)
        order = self.dialect.dispatch_keys.index
        return tuple(sorted(found.values(), key=lambda d: order(d.key)))

    def dispatch_key(self, word: Word, kernel: Text, found: dict[str, DispatchEntry]) -> None:
        """Adds the kernel of one key to ``found``."""
        key = word.text
        if key not in self.dialect.dispatch_keys:
            hint = did_you_mean(key, self.dialect.dispatch_keys)
            self.report(word.location, f"unknown dispatch key '{key}'", hint)
        elif key in found:
            hint = f"remove it here or at {found[key].kernel}"
            self.report(word.location, f"the dispatch key '{key}' occurs twice", hint)
        else:
            name = kernel.text.strip()
            definition = self.context.kernels.on(key).find(name)
            found[key] = DispatchEntry(key, name, definition, kernel.location)

    def lacks_kernel(self, structure: Structure, found: Mapping[str, DispatchEntry]) -> bool:
        """Whether a kernel follows from the name: the entry writes neither a formula nor its main kernel."""
        if not self.has_structure or {"expr", "dispatch"} & self.misspelled.keys() or "expr" in self.values:
            return False
        if "dispatch" in self.values and not found:  # reported already
            return False
        if structure == "composite" and not {"derivatives", "non_differentiable"} & self.values.keys():
            return "All" not in found
        return not found.keys() & self.dialect.main_keys

    def derivatives(self) -> tuple[Derivative, ...]:
        found = []

        for names, formula in self.map("derivatives", "self: grad") or ():
            inputs = tuple(word.text for word in split_words(names))
            if not isinstance(formula, Text) or not formula.text.strip():
                self.report(
                    formula.location,
                    f"the derivative of '{names.text}' is not a formula",
                    f"write {names.text}: grad",
                )
                continue

            is_zero = formula.text.strip() == vocabulary.NON_DIFFERENTIABLE
            self.context.texts[names.location] = names
            found.append(Derivative(inputs, None if is_zero else self.formula_of(formula), names.location))

        return tuple(found)

    def requires(self, schema: FunctionSchema | None) -> tuple[Requirement, ...]:
        arguments = [] if schema is None else list(schema.arguments.names())
        reader = requirement_reader(self.context, self.report)
        return tuple(reader.read(self.values.get("requires"), self.context.requirements, arguments))

    def non_differentiable(self) -> str | None:
        """The reason, written out or by its name."""
        found = self.text("non_differentiable")
        if found is None or not found.isidentifier():
            return found
        location = self.values["non_differentiable"].location
        return self.context.reasons.find(found, location, self.report) or found

    def formula(self, key: str) -> Formula | None:
        value = self.values.get(key)
        return self.formula_of(value) if self.text(key) is not None and isinstance(value, Text) else None

    def reference(self) -> Formula | None:
        value = self.values.get("reference")
        text = self.text("reference")
        if text is None or not isinstance(value, Text):
            return None
        self.context.texts[value.location] = value
        return Formula(text, None, value.location)

    def formula_of(self, value: Text) -> Formula:
        return parse_formula(value, self.context, self.report)

    # samples, doc

    def samples(self, schema: FunctionSchema | None, module: str) -> str | None:
        """What the entry writes, or the generator of the operator's name where there is one."""
        found = self.text("samples")
        known = self.context.samples
        if found is None:
            return self.implied_samples(schema, module)
        if known is not None and found not in known:
            self.report(
                self.values["samples"].location,
                f"unknown samples '{found}'",
                did_you_mean(found, known) + f' or write @samples("{found}") in tests/ops/samples',
            )
        return found

    def implied_samples(self, schema: FunctionSchema | None, module: str) -> str | None:
        if schema is None or "samples" in self.values or self.dialect.samples is None:
            return None

        name = implied.samples(schema, module)
        known = self.context.samples
        if self.context.library is not None:  # whose file may be all there is
            return name if known is not None and name in known else None
        return name if known is None or name in known or module == PRIVATE else None

    def doc(self) -> str:
        value = self.values.get("doc")
        if isinstance(value, Text):
            self.context.texts[value.location] = value
        return self.text("doc") or ""


def parse_formula(value: Text, context: Context, report: Report) -> Formula:
    """The parsed text. Reports a problem and leaves the node None if it is not an expression."""
    from codegen.expressions import ExpressionError, parse

    context.texts[value.location] = value
    try:
        node = parse(value.text)
    except ExpressionError as error:
        hint = error.hint or "see the expression language in docs/entries.md"
        report(value.location_at(error.offset), error.message, hint)
        node = None
    return Formula(value.text.strip(), node, value.location)


def requirement_reader(context: Context, report: Report) -> RequirementReader:
    """Reads requirements whose formulas and messages later checks find in ``context``."""

    def remember(message: Text) -> None:
        context.texts[message.location] = message

    return RequirementReader(report, lambda value: parse_formula(value, context, report), remember)
