"""Which files there are, and what each template is given."""

from __future__ import annotations

from collections.abc import Callable

from codegen.emit import dtype_macros, headers, native, registration
from codegen.emit.expand import expand
from codegen.emit.expr_kernels import kernels_by_file
from codegen.emit.functions import functions_of
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
        self.files: dict[str, str] = {}

    def render(self) -> dict[str, str]:
        emitters: list[Callable[[], None]] = [self.headers, self.dispatch_macros]
        for emit in emitters:
            emit()
        for topic in self.program.topics.values():
            if topic.operators:
                self.native(topic)
                self.expr_kernels(topic)
                self.registration(topic)
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
