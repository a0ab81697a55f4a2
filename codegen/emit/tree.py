"""Which files there are, and what each template is given."""

from __future__ import annotations

from collections.abc import Callable

from codegen.emit import autograd, bindings, dtype_macros, headers, includes, native, registration, style
from codegen.emit.expand import expand
from codegen.emit.expr_kernels import kernels_by_file
from codegen.emit.functions import functions_of
from codegen.emit.places import place_of
from codegen.emit.templates import Templates
from codegen.model import Program, Topic


class Tree:
    """All generated files of one program."""

    def __init__(self, program: Program, library: str | None) -> None:
        self.program = expand(program)
        self.library = library
        self.templates = Templates(program.file)
        self.operators = list(self.program)
        self.dtype_sets = dtype_macros.members_by_name(program.all_dtype_sets())
        self.node_names = autograd.node_names(self.program)
        self.files: dict[str, str] = {}

    def render(self) -> dict[str, str]:
        emitters: list[Callable[[], None]] = [self.headers, self.dispatch_macros, self.bindings]
        for emit in emitters:
            emit()
        for topic in self.program.topics.values():
            if topic.operators:
                self.native(topic)
                self.expr_kernels(topic)
                self.registration(topic)
                self.autograd(topic)
        return dict(sorted(self.files.items()))

    def add(self, path: str, template: str, **values: object) -> None:
        assert path not in self.files, f"two generated files are called {path}"
        self.files[path] = self.templates.render(template, **values)

    def headers(self) -> None:
        for stem, operators in headers.group_by_header(self.operators).items():
            self.add(f"aten/ops/{stem}.h", "aten/ops/operator.h", functions=headers.header_functions(operators))

    def dispatch_macros(self) -> None:
        if self.library is None:
            self.add("aten/Dispatch.h", "aten/Dispatch.h", macros=dtype_macros.macros(self.program))

    def native(self, topic: Topic) -> None:
        entries = native.entries(topic.operators)
        self.add(f"aten/native/{topic.name}Native.h", "aten/native/TopicNative.h", topic=topic.name, entries=entries)

    def expr_kernels(self, topic: Topic) -> None:
        for path, kernels in kernels_by_file(topic.operators).items():
            self.add(path, "aten/native/cpu/expr/operatorKernel.cpp", topic=topic.name, kernels=kernels)

    def registration(self, topic: Topic) -> None:
        sections = registration.sections(topic.operators, self.dtype_sets)
        stems = sorted(headers.group_by_header(topic.operators))
        stubs = [stub for section in sections for stub in section.stubs]
        self.add(f"aten/register/{topic.name}.cpp", "aten/register/Topic.cpp", topic=topic.name, headers=stems,
                 sections=sections, stubs=stubs, r=registration)  # fmt: skip

    def autograd(self, topic: Topic) -> None:
        nodes = autograd.node_classes(topic.operators, self.node_names, self.program)
        decomposed = [o for o in topic.operators if style.gradient_of(o) == "decomposed"]
        outs = [f for o in decomposed for f in functions_of(o) if f.form == "out" and f.tensors]
        if not nodes and not outs:
            return
        texts = [g.value for node in nodes for g in node.gradients] + [s.value for node in nodes for s in node.saved]
        found = includes.operator_headers(texts, self.program) | includes.library_headers(texts, any(s.type == "at::Scalar" for n in nodes for s in n.saved))
        found |= {includes.header_of(o) for o in (*(n.operator for n in nodes), *(f.operator for f in outs))}
        folder = "torch_py/csrc/autograd/generated"
        self.add(f"{folder}/{topic.name}Nodes.h", f"{folder}/TopicNodes.h", nodes=nodes)
        self.add(f"{folder}/{topic.name}Nodes.cpp", f"{folder}/TopicNodes.cpp", topic=topic.name, nodes=nodes, decomposed_out=outs,
                 headers=sorted(found), standard_headers=includes.standard_headers(texts))  # fmt: skip

    def bindings(self) -> None:
        for topic, shard in bindings.shards(self.program, self.library).items():
            headers = sorted({includes.header_of(o) for o in shard.operators()})
            self.add(f"torch_py/csrc/bindings/generated/{topic}.cpp", "torch_py/csrc/bindings/generated/Topic.cpp", topic=topic,
                     shard=shard, headers=headers, library=self.library, place_of=place_of, tail=bindings.tail,
                     out_elements=bindings.out_elements)  # fmt: skip
