"""Reads the file of a backend and checks it against the operators and the backend's C++."""

from __future__ import annotations

import keyword
from pathlib import Path
from typing import NamedTuple

from codegen.diagnostics import Diagnostics, GenerationError, Location, did_you_mean
from codegen.model import Operator, Program
from codegen.model.kernels import Kernel, KernelIndex
from codegen.targets.torch_py.analysis.implied_operators import expand
from codegen.targets.torch_py.dispatch_checks import check_macros
from codegen.targets.torch_py.emit import dtype_macros, registration
from codegen.targets.torch_py.emit.registration import Kernels
from codegen.targets.torch_py.kernels import scan_kernels, types, types_of
from codegen.targets.torch_py.keys import DISPATCH_KEYS
from codegen.yaml import MapValue, Text, load_document

KEYS = ("backend", "device", "dispatch")
DEVICE_KEY = "PrivateUse1"

# The functions that `device:` names, with their signatures; `hooks` takes the place of all others.
DEVICE_FUNCTIONS = {
    "count": "int {}()",
    "allocate": "void* {}(size_t bytes, int device)",
    "release": "void {}(void* data, int device)",
    "copy": "void {}(void* to, Device to_device, const void* from, Device from_device, size_t bytes)",
}
HOOKS_FUNCTION = {"hooks": "c10::DeviceHooks& {}()"}


class BackendKernel(NamedTuple):
    """A kernel, and the operator that it serves for the device."""

    operator: Operator
    kernels: Kernels  # the operator's kernels by device, in at::native::loops
    function: str

    @property
    def declaration(self) -> str:
        return f"{self.kernels.result} {self.function}({', '.join(self.kernels.parameters)})"

    @property
    def header(self) -> str:
        return registration.kernels_header(self.operator.topic)


class Backend(NamedTuple):
    """A checked file."""

    name: str
    file: str
    device: dict[str, str]  # what `device:` says -> the function
    kernels: tuple[BackendKernel, ...]
    fallbacks: tuple[str, ...]  # operators with loops that have no kernel here


def read_backend(path: Path, base: Program, text: str | None = None) -> Backend:
    """The backend of a file, for the operators of `base`; `text` replaces its contents.

    Raises GenerationError with every problem.
    """
    problems = Diagnostics()
    written = path.read_text(encoding="utf-8") if text is None else text
    document = load_document(path.name, written, problems)
    if isinstance(document.root, MapValue):
        found = _Reader(path, document.root, expand(base), problems).read()
        if not problems:
            return found
    elif not problems:
        problems.report(Location(path.name, 1, 1), "yaml", "the file is not a map", "write backend: mydev")
    raise GenerationError(problems)


class _Reader:
    def __init__(self, path: Path, root: MapValue, base: Program, problems: Diagnostics) -> None:
        self.path = path
        self.root = root
        self.base = base
        self.problems = problems
        self.scanned: KernelIndex = scan_kernels(path.parent)

    def read(self) -> Backend:
        for key, _ in self.root:
            if key.text not in KEYS:
                self.problems.report(
                    key.location, "yaml", f"unknown key '{key.text}'", did_you_mean(key.text, KEYS)
                )

        check_macros(self.scanned, self.base, self.problems)
        loops = self.loops()
        kernels = tuple(self.kernels(loops))
        served = {kernel.operator.name for kernel in kernels}
        return Backend(
            self.name(),
            self.path.name,
            self.device(),
            kernels,
            tuple(name for name in loops if name not in served),
        )

    def name(self) -> str:
        value = self.root.get("backend")
        text = value.text if isinstance(value, Text) else ""
        if not text.isidentifier() or keyword.iskeyword(text) or text != text.lower():
            place = value.location if value is not None else self.root.location
            message = f"'{text}' is not a name of a device"
            self.problems.report(place, "backend", message, "write backend: mydev")
        elif text in {key.lower() for key in DISPATCH_KEYS}:
            assert value is not None
            message = f"'{text}' is a device of torch_py already"
            self.problems.report(value.location, "backend", message, "write another name: mydev")
        return text

    def device(self) -> dict[str, str]:
        """The functions of the device, which must be defined."""
        value = self.root.get("device")
        if not isinstance(value, MapValue):
            place = value.location if value is not None else self.root.location
            hint = "write device: and below it count, allocate, release and copy, or hooks"
            self.problems.report(place, "device", "no functions of the device", hint)
            return {}

        found = {key.text: item.text for key, item in value if isinstance(item, Text)}
        known = HOOKS_FUNCTION if "hooks" in found else DEVICE_FUNCTIONS
        for key, item in value:
            if key.text not in known:
                hint = did_you_mean(key.text, known)
                self.problems.report(key.location, "device", f"unknown key '{key.text}'", hint)
            elif isinstance(item, Text):
                self.check_kernel(item, known[key.text].format(item.text), "device")
        for missing in known.keys() - found.keys():
            message = f"'{missing}' is missing"
            self.problems.report(value.location, "device", message, f"write {missing}: FUNCTION")
        return found

    def loops(self) -> dict[str, tuple[Operator, Kernels]]:
        """The operators that can have a kernel for a device, by name."""
        sets = dtype_macros.members_by_name(self.base.all_dtype_sets())
        found = {}
        for section in registration.sections(list(self.base), sets):
            # With several, such as a loop and a kernel of its own for meta, the loop comes first.
            if section.kernels:
                found[section.operator.name] = (section.operator, section.kernels[0])
        return found

    def kernels(self, loops: dict[str, tuple[Operator, Kernels]]) -> list[BackendKernel]:
        value = self.root.get("dispatch")
        table = value.get(DEVICE_KEY) if isinstance(value, MapValue) else None
        if not isinstance(table, MapValue):
            place = value.location if value is not None else self.root.location
            hint = "write dispatch: and below it PrivateUse1: with lines such as add.Tensor: add_kernel"
            self.problems.report(place, "dispatch", "no kernels for PrivateUse1", hint)
            return []

        for key, _ in value if isinstance(value, MapValue) else ():
            if key.text != DEVICE_KEY:
                message = f"a backend has kernels for {DEVICE_KEY} alone, not for {key.text}"
                self.problems.report(key.location, "dispatch", message, f"write them below {DEVICE_KEY}:")

        found = []
        for key, item in table:
            if key.text not in loops:
                self.report_operator(key, loops)
            elif not isinstance(item, Text):
                message = "not the name of a function"
                self.problems.report(item.location, key.text, message, "write add_kernel")
            else:
                operator, kernels = loops[key.text]
                kernel = BackendKernel(operator, kernels, item.text)
                self.check_kernel(item, kernel.declaration, key.text)
                found.append(kernel)
        return found

    def report_operator(self, key: Text, loops: dict[str, tuple[Operator, Kernels]]) -> None:
        known = {operator.name for operator in self.base}
        if key.text in known:
            message = f"'{key.text}' has no loop: it is a view, or made of other operators"
            hint = "give kernels to those; python -m codegen explain shows which"
        else:
            message, hint = f"unknown operator '{key.text}'", did_you_mean(key.text, loops)
        self.problems.report(key.location, key.text, message, hint)

    def check_kernel(self, item: Text, declaration: str, what: str) -> None:
        """The function is defined, with the parameters that the caller passes."""
        definitions: list[Kernel] = self.scanned.all_of(item.text)
        local = self.scanned.find(item.text)
        if not definitions and local is not None:
            hint = f"move it out of the unnamed namespace, or remove static: {local.path}:{local.line}"
            self.problems.report(item.location, what, f"'{item.text}' is local to its file", hint)
            return
        if not definitions:
            near = self.scanned.near(item.text)
            hint = f"did you mean {near}?" if near else f"write {declaration} in aten/native"
            self.problems.report(item.location, what, f"'{item.text}' is not defined", hint)
            return

        wanted = types_of(declaration)
        if not any(types(d) in (None, wanted) for d in definitions):
            place = Location(definitions[0].path, definitions[0].line, 1)
            self.problems.report(place, what, f"'{item.text}' has other parameters", f"write {declaration}")
