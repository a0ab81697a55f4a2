"""The generated files of a program, and the values that each template is given."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ParamSpec

from codegen.dtypes import DTYPE_CONSTANTS
from codegen.model import Operator, Program, Topic
from codegen.output import layout
from codegen.output.templates import Templates
from codegen.remembered import forget
from codegen.target import Part
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
from codegen.targets.torch_py.emit.bindings import Shard
from codegen.targets.torch_py.emit.expr_kernels import (
    cpu_path,
    cuda_kernels_by_file,
    cuda_path,
    headers_of,
    kernels_by_file,
)
from codegen.targets.torch_py.emit.places import place_of
from codegen.targets.torch_py.emit.registration import Section
from codegen.targets.torch_py.emit.row_kernels import row_kernels_by_file
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
        self.shards = bindings.shards(self.program)
        self.signatures = docs.signatures_of(self.shards)
        self.files: dict[str, str] = {}

    def parts(self) -> list[Part]:
        """All files, those of each topic apart from the others."""
        of_all = (self.metadata, self.contract, self.lowerings, self.declarations, self.former_headers)
        parts = [self.part(render) for render in of_all]
        if self.library is None:
            parts += [self.part(self.dispatch_macros), self.part(self.stubs)]
            parts += [self.part(self.stub, module) for module in STUBS.values()]
        else:
            parts += [self.part(self.module, self.library), self.part(self.library_stubs, self.library)]

        # What shows operators of several topics belongs to the topic of the first.
        headers_of: dict[str, dict[str, list[Operator]]] = {}
        for path, operators in headers.group_by_header(self.operators).items():
            headers_of.setdefault(operators[0].topic, {})[path] = operators
        return parts + [
            self.part(self.whole_topic, topic, headers_of.get(topic.name, {}))
            for topic in self.program.topics.values()
        ]

    def part(self, render: Callable[P, None], *arguments: P.args, **named: P.kwargs) -> Part:
        """What ``render`` adds."""

        def files() -> dict[str, str]:
            self.files = {}
            render(*arguments, **named)
            return self.files

        return files

    def whole_topic(self, topic: Topic, headers_of: Mapping[str, Sequence[Operator]]) -> None:
        """The files of a topic, with headers and bindings of its operators."""
        self.headers(headers_of)
        if topic.name in self.shards:
            self.bindings([topic.name])
        if topic.operators:
            self.topic(topic)
        self.forget(topic)

    def forget(self, topic: Topic) -> None:
        """Drops what was remembered with the operators of a topic, which is much and quickly found again."""
        for operator in topic.operators:
            forget(operator)
            forget(operator.schema)
        for body in self.shards[topic.name].bodies if topic.name in self.shards else ():
            forget(body.function)

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
            t
            for t, shard in self.shards.items()
            if any(o.unambiguous_name in names for o in shard.operators())
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
        pages = docs.pages(topic.operators, self.signatures)
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
        for topic, shard in self.shards.items():
            if wanted is not None and topic not in wanted:
                continue

            found = sorted({includes.header_of(o) for o in shard.operators()})
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

    def metadata(self) -> None:
        rows = []
        for topic in self.program.topics.values():
            rows += metadata.rows(topic.operators, self.program, self.node_names)
            self.forget(topic)
        self.files[METADATA] = metadata.render(self.program, rows)

    def contract(self) -> None:
        self.files[CONTRACT] = contract.render(self.program)
        for topic in self.program.topics.values():
            self.forget(topic)

    def lowerings(self) -> None:
        rows = []
        for topic in self.program.topics.values():
            rows.append(lowerings.rows(topic.operators))
            self.forget(topic)
        self.files[LOWERINGS] = lowerings.render(self.program.file, rows)

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

        named = stubs.named_results(list(self.shards.values()))
        self.add(f"{PYTHON}/_results.pyi", f"{PYTHON}/_results.pyi", results=named)

    def stub(self, module: str, shards: Sequence[Shard] | None = None) -> None:
        """The declarations of one module, or of the methods of Tensor."""
        shards = list(self.shards.values()) if shards is None else shards
        found = stubs.stubs_of(shards, module)
        named = {result.name for result in stubs.named_results(shards)}
        used = sorted({stub.result for stub in found} & named)
        template = f"{PYTHON}/_methods.pyi" if module == METHODS else f"{PYTHON}/module.pyi"
        self.add(stub_path(module), template, stubs=found, results=used)

    def library_stubs(self, library: str) -> None:
        """The declarations of the functions of a library outside the tree, with their documentation."""
        shards = list(self.shards.values())
        self.add(
            f"{PYTHON}/{library}.pyi",
            f"{PYTHON}/library.pyi",
            results=stubs.named_results(shards),
            stubs=stubs.stubs_of(shards, "Library"),
        )
