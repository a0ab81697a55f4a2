"""Finds the C++ functions that entries name as kernels and shape rules.

One pass of regular expressions over ``aten/native``. A definition begins a line: it is a function with a
body, or a macro whose first argument is the name (``UNARY_KERNEL(sin_kernel, ...)``). Templates, declarations
and calls do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from codegen.diagnostics import Location
from codegen.model.kernels import DispatchCall, Kernel, KernelIndex
from codegen.targets.torch_py.keys import CUDA_FOLDER, CUDA_KEY
from codegen.targets.torch_py.scanned import kernel_files

# `void add_kernel(` or `std::tuple<Tensor, Tensor> sort(`.
_FUNCTION = re.compile(r"^(?P<lead>[A-Za-z_][^\n;={}()#]*?[\s&*>])(?P<name>[A-Za-z_]\w*)\(", re.MULTILINE)
# `sort(`, with the return type in the line above.
_ALONE = re.compile(r"^(?P<name>[a-z_]\w*)\(", re.MULTILINE)
_MACRO = re.compile(r"^[A-Z][A-Z0-9_]{2,}\(\s*(?P<name>[A-Za-z_]\w*)\s*[,)]", re.MULTILINE)
# `namespace at::native {`, `inline namespace CPU_CAPABILITY {`, `namespace {`.
_NAMESPACE = re.compile(r"\bnamespace\b(?P<name>[\w:\s]*)\{")
_ALIAS = re.compile(r"^using (?P<name>\w+) = (?P<text>[^;]+);", re.MULTILINE)
_DEFINE = re.compile(r"^#define (?P<name>[A-Z]\w*) +(?P<text>(?:[^\n]*\\\n)*[^\n]*)$", re.MULTILINE)
_DEFINE_ANY = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)", re.MULTILINE)
_BODY = re.compile(r"\s*(?:noexcept\s*|->\s*[\w:<>,\s&*]+?)?\{")
# `AT_DISPATCH_FLOATING(`, and the name that its error message gives, where that is a literal.
_DISPATCH = re.compile(r"\b(?P<macro>AT_DISPATCH_\w+)\(")
_LITERAL_NAME = re.compile(r'(?P<type>[^"]*?),\s*"(?P<name>[^"\n]*)"')
_COMMENT_OR_LITERAL = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""", re.DOTALL)
# What the preprocessor leaves out, where no other condition is inside.
_LEFT_OUT = re.compile(
    r"^[ \t]*#[ \t]*if[ \t]+0\b.*?^[ \t]*#[ \t]*(?:endif|else|elif)\b", re.DOTALL | re.MULTILINE
)
_BRACKET_OR_COMMA = re.compile(r"[<({>)},]")
_NOT_A_TYPE = (
    "return",
    "else",
    "using",
    "typedef",
    "template",
    "case",
    "namespace",
    "struct",
    "class",
    "extern",
    "throw",
)


def types(kernel: Kernel) -> tuple[str, ...] | None:
    """The types of the result and of the parameters, in one spelling; None where a macro writes them."""
    return None if kernel.signature is None else types_of(kernel.signature)


def is_for_cuda(kernel: Kernel) -> bool:
    """In at::native::cuda, where functions have the names of the CPU's."""
    return kernel.path.startswith(CUDA_FOLDER + "/")


def is_per_isa(kernel: Kernel) -> bool:
    """Compiled once per instruction set: see tools/build/isa.py."""
    return kernel.path.endswith(".isa.cpp")


def namespace_of(path: str) -> str:
    """The namespace of the kernels in a file, in which the generated code declares them."""
    if path.startswith(CUDA_FOLDER + "/"):
        return "at::native::cuda"
    return "at::native::CPU_CAPABILITY" if path.endswith(".isa.cpp") else "at::native"


def scan_kernels(root: Path, planned: Iterable[Kernel] = ()) -> KernelIndex:
    """All definitions in ``kernel_files``, and ``planned`` ones."""
    found: list[Kernel] = []
    calls: list[DispatchCall] = []
    for path in kernel_files(root):
        name = path.relative_to(root).as_posix()
        written = path.read_text(encoding="utf-8", errors="replace")
        # Comments and literals become blanks of the same length: nothing in them matches, and positions stay.
        text = _LEFT_OUT.sub(_blank, _COMMENT_OR_LITERAL.sub(_blank, written))
        own = list(_definitions(text, name))
        found += own
        calls += _dispatch_calls(text, written, name, own)

    every = (*planned, *found)
    cuda = KernelIndex(kernel for kernel in every if is_for_cuda(kernel))
    others = (kernel for kernel in every if not is_for_cuda(kernel))
    return KernelIndex(others, {CUDA_KEY: cuda}, calls)


def _definitions(text: str, name: str) -> Iterator[Kernel]:
    """The definitions in the text of a file, which is called ``name`` in the checkout."""
    short = {
        m["name"]: m["text"].replace("\\\n", " ") for m in (*_ALIAS.finditer(text), *_DEFINE.finditer(text))
    }
    namespaces = _namespaces(text)

    for match in (*_FUNCTION.finditer(text), *_ALONE.finditer(text), *_MACRO.finditer(text)):
        lead = match.groupdict().get("lead")
        if match.re is not _MACRO and not _is_definition(text, match, lead or ""):
            continue

        line = text.count("\n", 0, match.start("name")) + 1
        around = [space.name for space in namespaces if space.start <= match.start() < space.end]
        words = (lead or "").split()
        yield Kernel(
            match["name"],
            name,
            line,
            is_local="" in around or "static" in words or "inline" in words,
            signature=_signature(text, match, lead, short),
            dispatches=_dispatches(text, match, short),
            namespace="::".join(filter(None, around)),
        )


class _Namespace(NamedTuple):
    name: str  # "" of an unnamed one
    start: int
    end: int


def _namespaces(text: str) -> list[_Namespace]:
    """The namespaces of a file, outer ones before those inside of them."""
    found = []
    for match in _NAMESPACE.finditer(text):
        end = _closing(text, match.end() - 1, "{", "}")
        name = "".join(re.sub(r"\binline\b", "", match["name"]).split())
        found.append(_Namespace(name, match.start(), len(text) if end is None else end))
    return found


def _blank(match: re.Match[str]) -> str:
    text = match.group()
    return re.sub(r"[^\n]", " ", text) if "\n" in text else " " * len(text)


def _is_definition(text: str, match: re.Match[str], lead: str) -> bool:
    if lead.split()[:1] and lead.split()[0] in _NOT_A_TYPE:
        return False

    above = text[: match.start()].rstrip().rsplit("\n", 1)[-1]
    if above.startswith("template"):
        return False

    end = _closing(text, match.end() - 1, "(", ")")
    return end is not None and _BODY.match(text, end + 1) is not None


def _signature(text: str, match: re.Match[str], lead: str | None, short: Mapping[str, str]) -> str | None:
    """The signature as written, with the file's own aliases and macros (``short``) expanded.

    None where a macro writes the function.
    """
    if match.re is _MACRO:
        return None

    if lead is None:  # the type of the result is in the line above
        lead = text[: match.start()].rstrip().rsplit("\n", 1)[-1] + " "
    end = _closing(text, match.end() - 1, "(", ")")
    if end is None:
        return None

    written = f"{lead}{match['name']}{text[match.end() - 1 : end + 1]}"
    return " ".join(re.sub(r"\b[A-Z]\w*", lambda m: short.get(m.group(), m.group()), written).split())


def _dispatches(text: str, match: re.Match[str], short: Mapping[str, str]) -> tuple[str, ...]:
    """The macros that choose a C++ type in a definition: up to the brace that begins a line, or in the macro
    that writes the function."""
    end = text.find("\n}", match.start())
    body = text[match.start() : end if end >= 0 else len(text)]
    if match.re is _MACRO:
        call = text[match.start() : text.find("\n", match.start())]
        body = call + short.get(call.partition("(")[0], "")
    return tuple(dict.fromkeys(m["macro"] for m in _DISPATCH.finditer(body)))


def _dispatch_calls(
    text: str, written: str, path: str, definitions: Sequence[Kernel]
) -> Iterator[DispatchCall]:
    """The calls of macros that choose a C++ type; ``written`` has the literals.

    ``definitions`` are those of the file, in which not every call has to be.
    """
    symbols = {kernel.line: kernel.symbol for kernel in definitions}
    defined = {m["name"] for m in _DEFINE_ANY.finditer(text)}
    for match in _DISPATCH.finditer(text):
        if match["macro"] in defined:
            continue

        literal = _LITERAL_NAME.match(written, match.end())
        at = match.start() if literal is None else literal.start("name")
        # The function around the call starts after the last brace that begins a line.
        first = text.count("\n", 0, text.rfind("\n}", 0, match.start()) + 1) + 1
        place = _place(text, path, match.start())
        yield DispatchCall(
            match["macro"],
            None if literal is None else literal["name"],
            next((symbols[line] for line in range(place.line, first - 1, -1) if line in symbols), None),
            place,
            _place(text, path, at),
        )


def _place(text: str, path: str, offset: int) -> Location:
    return Location(path, text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def types_of(signature: str) -> tuple[str, ...]:
    """``void f(const at::Tensor& self, int64_t n = 1)`` -> ``("void", "const Tensor&", "int64_t")``."""
    head, _, tail = signature.partition("(")
    result = re.sub(r"^((static|inline|constexpr|TORCH_PY_API)\s+)+", "", head.rsplit(" ", 1)[0])
    parameters = [_parameter_type(p) for p in _split(tail.rsplit(")", 1)[0])]
    return _spelled(result), *parameters


@cache
def _parameter_type(parameter: str) -> str:
    """The type alone, without name, default and attributes.

    ``const int64_t n`` is ``int64_t``, as callers cannot tell the difference.
    """
    text = re.sub(r"\[\[.*?\]\]", "", parameter.split("=")[0]).strip()
    words = re.match(r"(.*[>\s&*])[A-Za-z_]\w*$", text, re.DOTALL)
    unnamed = words is None or (words[1].strip() in ("const", "") or words[1].rstrip().endswith("::"))
    found = _spelled(text if unnamed or words is None else words[1])
    return found.removeprefix("const ") if not found.endswith(("&", "*")) else found


@cache
def _spelled(type_: str) -> str:
    """The type without the namespaces that are used everywhere, and with blanks only where needed."""
    type_ = type_.replace("TensorIteratorBase", "TensorIterator")  # two names of one class
    text = re.sub(r"\b(?:at::|c10::|std::(?=string_view|optional|tuple|vector|array|int64_t))", "", type_)
    text = re.sub(r"\s*([&*<>,])\s*", r"\1", " ".join(text.split()))
    text = re.sub(r"^(\w[\w:<>,]*) const(?=[&*])", r"const \1", text)
    return text.strip()


def _split(parameters: str) -> list[str]:
    """The parameters between the commas that are outside of brackets."""
    found = []
    depth = 0
    start = 0
    for match in _BRACKET_OR_COMMA.finditer(parameters):
        if match.group() == ",":
            if depth == 0:
                found.append(parameters[start : match.start()])
                start = match.end()
        else:
            depth += 1 if match.group() in "<({" else -1

    found.append(parameters[start:])
    return [part for part in found if part.strip() and part.strip() != "void"]


def _closing(text: str, opening: int, left: str, right: str) -> int | None:
    """The index of the bracket that closes the one at ``opening``."""
    depth = 0
    for match in re.compile(f"[{re.escape(left + right)}]").finditer(text, opening):
        depth += 1 if match.group() == left else -1
        if depth == 0:
            return match.start()
    return None
