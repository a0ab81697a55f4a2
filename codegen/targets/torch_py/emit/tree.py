"""The generated files of a program, and the values that each template is given."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ParamSpec

from codegen.dtypes import DTYPE_CONSTANTS
from codegen.model import Operator, Program, Topic
from codegen.output import layout
from codegen.output.templates import Templates
from codegen.remembered import forget
from codegen.target import Part, Pieces
from codegen.targets.torch_py.analysis.functions import functions_of
from codegen.targets.torch_py.analysis.gradient_kind import gradient_kind
from codegen.targets.torch_py.analysis.kernels import autograd_keys, is_formula_kernel
from codegen.targets.torch_py.emit import (
    autograd,
    bindings,
    callable_docs,
    contract,
    docs,
    dtype_macros,
    foreach,
    headers,
    includes,
    lowerings,
    metadata,
    native,
    native_docs,
    registration,
    stubs,
    wrapper_texts,
)
from codegen.targets.torch_py.emit.expr_kernels import (
    cpu_path,
    cuda_kernels_by_file,
    cuda_path,
    headers_of,
    kernels_by_file,
)
from codegen.targets.torch_py.emit.places import place_of
from codegen.targets.torch_py.emit.registration import Section
from codegen.targets.torch_py.emit.row_cuda_kernels import cuda_row_kernels_by_file
from codegen.targets.torch_py.emit.row_kernels import row_kernels_by_file
from codegen.targets.torch_py.emit.stubs import NamedResult, Stub
from codegen.targets.torch_py.python_modules import PYTHON_MODULES

AUTOGRAD = "torch_py/csrc/autograd/generated"
BINDINGS = "torch_py/csrc/bindings/generated"
PYTHON = "torch_py/_generated"
METADATA = f"{PYTHON}/operators.json"
LOWERINGS = f"{PYTHON}/lowerings.py"
CONTRACT = f"{PYTHON}/contract.json"
# Stub module -> Module enumerator whose functions it declares.
METHODS = "Method"
STUBS = {module.namespace: module.enumerator for module in PYTHON_MODULES.values()} | {"_methods": METHODS}
ARITHMETIC = tuple("add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split())
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")

P = ParamSpec("P")


def stub_path(module: str) -> str:
    name = next(name for name, known in STUBS.items() if known == module)
    return f"{PYTHON}/{name}.pyi"


class Tree:
    """All generated files of an expanded program.

    Of a part of a file, which needs ``node_names`` of the whole, the files of single topics are complete.
    ``selected`` has the unambiguous names of the operators that are to work; the others are declared and
    refuse every call. None selects all.
    """

    def __init__(
        self,
        program: Program,
        templates: Templates,
        node_names: Mapping[str, str] | None = None,
        selected: frozenset[str] | None = None,
    ) -> None:
        self.program = program
        self.selected = selected
        self.library = program.library
        self.templates = templates
        self.operators = list(self.program)
        self.dtype_sets = dtype_macros.members_by_name(self.program.all_dtype_sets())
        self.node_names = node_names or autograd.node_names(self.program)
        self.shards = bindings.Shards(self.program)
        self.files: dict[str, str] = {}
        self.pieces: dict[str, Pieces] = {}

    def parts(self) -> list[Part]:
        """All files, those of each topic apart from the others."""
        of_all = (self.frames, self.contract, self.declarations, self.former_headers)
        parts = [self.part(render) for render in of_all]
        if self.library is None:
            parts += [self.part(self.dispatch_macros), self.part(self.stubs)]
        else:
            parts += [self.part(self.module, self.library), self.part(self.library_stubs, self.library)]

        first = next((topic.name for topic in self.program.topics.values() if topic.operators), "")
        return parts + [
            self.part(self.whole_topic, position, topic, topic.name == first)
            for position, topic in enumerate(self.program.topics.values())
        ]

    def part(self, render: Callable[P, None], *arguments: P.args, **named: P.kwargs) -> Part:
        """What ``render`` adds."""

        def files() -> dict[str, str | Pieces]:
            self.files = {}
            self.pieces = {}
            render(*arguments, **named)
            return {**self.files, **self.pieces}

        return files

    def whole_topic(self, position: int, topic: Topic, is_first: bool) -> None:
        """The files of a topic, with headers and bindings of its operators, and its pieces of tables."""
        self.headers(self.own_headers(topic))
        if topic.name in self.shards:
            self.bindings([topic.name])
        if topic.operators:
            self.topic(topic)
        rows = metadata.rows(topic.operators, self.program, self.node_names)
        self.pieces[METADATA] = metadata.piece(position, rows, is_first)
        self.pieces[LOWERINGS] = lowerings.pieces(position, lowerings.rows(topic.operators))

        # What follows from a topic is much, and quickly found again.
        self.shards.forget(topic.name)
        for operator in topic.operators:
            operator.forget()

    def forget_answers(self, topic: Topic) -> None:
        """Drops what a file of all topics has asked. Trees of formulas are kept for the topic's own files."""
        self.shards.forget(topic.name)
        for operator in topic.operators:
            forget(operator)
            forget(operator.schema)

    def render_around(self, operators: Collection[Operator]) -> dict[str, str]:
        """The files that show operators of one topic, except METADATA and LOWERINGS, which show all."""
        names = {o.unambiguous_name for o in operators}
        own = [self.program.operators[name] for name in names]
        wanted = {includes.header_of(o) for o in own}
        every = headers.group_by_header(self.operators)
        self.headers({path: found for path, found in every.items() if path in wanted})
        self.declarations(native.by_source(own))

        # A callable is bound in the topic of its first overload, which may be another one.
        bound = [
            t for t, shard in self.shards.items() if any(o.unambiguous_name in names for o in shard.operators)
        ]
        self.bindings(bound)

        for topic in {o.topic for o in own}:
            self.topic(self.program.topics[topic])
        return dict(sorted(self.files.items()))

    @staticmethod
    def own_files(topic: Topic) -> Iterator[str]:
        """The paths of the files that a topic may have to itself, but for its bindings."""
        name = topic.name
        for operator in topic.operators:
            yield from (path for path in (cpu_path(operator), cuda_path(operator)) if path is not None)
        yield from (f"aten/native/{name}Native.h", registration.kernels_header(name))
        yield from (f"aten/register/{name}.cpp", f"aten/register/cuda/{name}.cpp")
        yield from (f"{AUTOGRAD}/{name}Nodes.h", f"{AUTOGRAD}/{name}Nodes.cpp", f"docs/operators/{name}.md")

    def topic(self, topic: Topic) -> None:
        """The files that each topic has to itself."""
        self.native(topic)
        self.expr_kernels(topic)
        self.registration(topic)
        self.autograd(topic)
        self.pages(topic)

    def pages(self, topic: Topic) -> None:
        """The documentation of a topic."""
        signatures = docs.signatures_of(self.shards.with_operators_of(topic.name))
        pages = docs.pages(topic.operators, signatures)
        if pages:
            path = f"docs/operators/{topic.name}.md"
            self.add(path, "docs/operators/Topic.md", topic=topic.name, pages=pages)

    def add(self, path: str, template: str, /, **values: object) -> None:
        """Renders one file."""
        assert path not in self.files, f"two generated files are called {path}"
        self.files[path] = layout.wrapped(path, self.templates.render(template, **values))

    # C++

    def headers(self, operators_of: Mapping[str, Sequence[Operator]]) -> None:
        for path, operators in operators_of.items():
            self.add(path, "aten/ops/operator.h", functions=headers.header_functions(operators))

    def own_headers(self, topic: Topic) -> dict[str, list[Operator]]:
        """The headers of a topic. One with operators of several topics belongs to the first of these."""
        shared = self.shared_headers
        found = headers.group_by_header(topic.operators)
        own = {path: shared.get(path, operators) for path, operators in found.items()}
        return {path: operators for path, operators in own.items() if operators[0].topic == topic.name}

    @cached_property
    def shared_headers(self) -> dict[str, list[Operator]]:
        """The headers with operators of several topics."""
        every = headers.group_by_header(self.operators)
        return {path: found for path, found in every.items() if len({o.topic for o in found}) > 1}

    def former_headers(self) -> None:
        for path, header in headers.former_headers(self.operators).items():
            self.add(path, "aten/ops/former.h", header=header)

    def dispatch_macros(self) -> None:
        self.add("aten/Dispatch.h", "aten/Dispatch.h", macros=dtype_macros.macros(self.program))

    def declarations(self, wanted: Collection[str] | None = None) -> None:
        for path, entries in native.by_source(self.operators).items():
            if not is_formula_kernel(path) and (wanted is None or path in wanted):
                self.add(
                    native.header_of_source(path),
                    "aten/native/declarations/source.h",
                    source_file=path,
                    entries=entries,
                )
        for topic in self.program.topics.values():
            self.forget_answers(topic)

    def native(self, topic: Topic) -> None:
        found = [native.header_of_source(path) for path in native.sources_of(topic.operators)]
        self.add(
            f"aten/native/{topic.name}Native.h", "aten/native/TopicNative.h", topic=topic.name, headers=found
        )

    def chosen(self, topic: Topic) -> tuple[Operator, ...]:
        """The operators of a topic that are to work."""
        selected = self.selected
        if selected is None:
            return topic.operators
        return tuple(o for o in topic.operators if o.unambiguous_name in selected)

    def expr_kernels(self, topic: Topic) -> None:
        chosen = self.chosen(topic)
        for path, kernels in kernels_by_file(chosen).items():
            self.add(
                path,
                "aten/native/cpu/expr/operatorKernel.cpp",
                topic=topic.name,
                kernels=kernels,
                headers=headers_of(kernels),
                is_per_isa=path.endswith(".isa.cpp"),
                for_size=any(kernel.is_rarely_used for kernel in kernels),  # gradients have no tags
            )

        for path, row_kernels in row_kernels_by_file(chosen).items():
            self.add(
                path,
                "aten/native/cpu/expr/rowsKernel.cpp",
                kernels=row_kernels,
                headers=headers_of(row_kernels),
                is_per_isa=path.endswith(".isa.cpp"),
            )

        for path, kernels in cuda_kernels_by_file(chosen).items():
            self.add(
                path,
                "aten/native/cuda/expr/Topic.cu",
                kernels=kernels,
                headers=headers_of(kernels),
            )

        for path, device_kernels in cuda_row_kernels_by_file(chosen).items():
            self.add(
                path,
                "aten/native/cuda/expr/Rows.cu",
                kernels=device_kernels,
                headers=headers_of(device_kernels),
            )

    def registration(self, topic: Topic) -> None:
        chosen = self.chosen(topic)
        sections = registration.sections(chosen, self.dtype_sets)
        names = {o.unambiguous_name for o in chosen}
        left_out = [f for o in topic.operators if o.unambiguous_name not in names for f in functions_of(o)]
        conditions = [
            c.condition for section in sections for c in (*section.checks, *section.checks_of_forms)
        ]
        declared = native.by_source(chosen)
        kernels = [k for section in sections for k in section.kernels]
        if kernels:
            path = registration.kernels_header(topic.name)
            self.add(path, "aten/native/loops/Topic.h", topic=topic.name, kernels=kernels)

        self.add(
            f"aten/register/{topic.name}.cpp",
            "aten/register/Topic.cpp",
            topic=topic.name,
            headers=self.registration_headers(topic, sections, conditions),
            standard_headers=includes.standard_headers(conditions),
            formulas=[e for path, entries in declared.items() if is_formula_kernel(path) for e in entries],
            sections=sections,
            left_out=left_out,
            kernels=kernels,
            r=wrapper_texts,
        )

        from_cuda = registration.cuda_kernels(sections)
        if from_cuda:
            self.add(
                f"aten/register/cuda/{topic.name}.cpp",
                "aten/register/cuda/Topic.cpp",
                topic=topic.name,
                header=registration.kernels_header(topic.name),
                declarations=list(dict.fromkeys(kernel.declaration for kernel in from_cuda)),
                kernels=from_cuda,
            )

    def registration_headers(
        self, topic: Topic, sections: Sequence[Section], conditions: Sequence[str]
    ) -> list[str]:
        found = [native.header_of_source(path) for path in native.sources_of(topic.operators)]
        found += headers.group_by_header(topic.operators)
        found += includes.list_headers(conditions)
        if any(o.is_over_rows for o in topic.operators):
            found.append("aten/iteration/RowPlan.h")
        if any(section.kernels for section in sections):
            found.append(registration.kernels_header(topic.name))
        if any(f.casts for section in sections for f in section.functions):
            found.append("aten/dispatch/AutocastKernel.h")
        if any(o.each is not None for o in topic.operators):
            found.append(foreach.HEADER)
        return found

    def autograd(self, topic: Topic) -> None:
        chosen = self.chosen(topic)
        nodes = autograd.node_classes(chosen, self.node_names, self.program)
        decomposed = [o for o in chosen if gradient_kind(o) == "decomposed"]
        outs = [f for o in decomposed for f in functions_of(o) if f.form == "out" and f.tensors]
        if not nodes and not outs:
            return

        formulas = [g.value for node in nodes for g in node.gradients]
        formulas += [s.value for node in nodes for s in node.saved]
        takes_scalars = any(s.type == "at::Scalar" for node in nodes for s in node.saved)

        found = includes.operator_headers(formulas, self.program)
        found |= includes.library_headers(formulas, takes_scalars)
        found |= {includes.header_of(o) for o in (*(n.operator for n in nodes), *(f.operator for f in outs))}

        self.add(f"{AUTOGRAD}/{topic.name}Nodes.h", f"{AUTOGRAD}/TopicNodes.h", nodes=nodes)
        self.add(
            f"{AUTOGRAD}/{topic.name}Nodes.cpp",
            f"{AUTOGRAD}/TopicNodes.cpp",
            topic=topic.name,
            nodes=nodes,
            decomposed_out=outs,
            keys_of=autograd_keys,
            headers=sorted(found),
            standard_headers=includes.standard_headers(formulas),
        )

    def bindings(self, wanted: Collection[str] | None = None) -> None:
        for topic in self.shards:
            if wanted is not None and topic not in wanted:
                continue

            shard = self.shards[topic]
            found = sorted({includes.header_of(o) for o in shard.operators})
            self.add(
                f"{BINDINGS}/{topic}.cpp",
                f"{BINDINGS}/Topic.cpp",
                topic=topic,
                shard=shard,
                headers=found,
                library=self.library,
                place_of=place_of,
                unlocked=bindings.unlocked,
                out_elements=bindings.out_elements,
            )
            # Texts have a file of their own, so that an edit compiles nothing else.
            self.add(
                f"{BINDINGS}/docs/{topic}.cpp",
                f"{BINDINGS}/docs/Topic.cpp",
                callables=shard.callables,
                doc_of=callable_docs.doc_of,
            )

    def module(self, library: str) -> None:
        """The Python module of a library outside the tree."""
        path = f"{BINDINGS}/module.cpp"
        doc = f"Operators declared in {self.program.file}."
        self.add(path, path, library=library, topics=list(self.shards), doc=doc)

    # Facts on all operators

    def frames(self) -> None:
        """The tables, to which each topic adds its rows."""
        self.pieces[METADATA] = metadata.frame(self.program)
        self.pieces[LOWERINGS] = lowerings.frame(self.program.file)

    def contract(self) -> None:
        self.files[CONTRACT] = contract.render(self.program)
        for topic in self.program.topics.values():
            self.forget_answers(topic)

    # Python

    def stubs(self) -> None:
        """What the declarations of functions and methods, for type checkers and editors, refer to."""
        path = "torch_py/_C.pyi"
        self.add(
            path,
            path,
            dtypes=list(DTYPE_CONSTANTS),
            operators=ARITHMETIC,
            comparisons=COMPARISONS,
        )
        texts = native_docs.texts_in(Path(self.program.path).parent)
        self.files[path] = native_docs.with_docstrings(self.files[path], texts)
        self.files[f"{PYTHON}/__init__.pyi"] = ""

        named = self.stubs_of(self.shards, STUBS.values())
        self.add(f"{PYTHON}/_results.pyi", f"{PYTHON}/_results.pyi", results=named)

    def stubs_of(self, topics: Iterable[str], modules: Iterable[str]) -> list[NamedResult]:
        """The declarations of what topics have in these modules; returns the named tuples of all results."""
        found: dict[str, list[Stub]] = {module: [] for module in modules}
        named: list[NamedResult] = []
        for topic in topics:
            shard = self.shards[topic]
            named += stubs.named_results(shard)
            for module, declared in found.items():
                declared += stubs.stubs_of(shard, module)
            self.forget_answers(self.program.topics[topic])

        names = {result.name for result in named}
        for module, declared in found.items():
            used = sorted({stub.result for stub in declared} & names)
            template = f"{PYTHON}/_methods.pyi" if module == METHODS else f"{PYTHON}/module.pyi"
            self.add(stub_path(module), template, stubs=stubs.in_order(declared), results=used)
        return named

    def library_stubs(self, library: str) -> None:
        """The declarations of the functions of a library outside the tree, with their documentation."""
        shards = list(self.shards.values())
        self.add(
            f"{PYTHON}/{library}.pyi",
            f"{PYTHON}/library.pyi",
            results=[result for shard in shards for result in stubs.named_results(shard)],
            stubs=stubs.in_order([stub for shard in shards for stub in stubs.stubs_of(shard, "Library")]),
        )
