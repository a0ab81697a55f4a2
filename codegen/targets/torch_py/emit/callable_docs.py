"""What ``help()`` shows of a Python function or method: its signatures and the text of its entry.

CPython reads the parameters of a built-in function from the first line of its documentation, the "text
signature", which is an ordinary Python signature without annotations. One line cannot say what several
overloads take, so that a function with overloads lists the signature of each, above its text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from codegen.model.keywords import PYTHON_KEYWORDS
from codegen.targets.torch_py.emit.bindings import Callable, Overload
from codegen.targets.torch_py.emit.parameters import Parameter
from codegen.targets.torch_py.emit.stubs import python_default, signatures_of, type_text

# What ends the text signature.
_END_OF_SIGNATURE = "\n--\n\n"
_BUILTIN = re.compile(r"\b_(int|float|bool)\b")
_ARGS = "\n\nArgs:\n"
# Arguments with the same meaning in every operator, which entries need not explain.
COMMON_ARGUMENTS = {
    "dtype": "the dtype of the result",
    "layout": "the layout of the result",
    "device": "the device of the result",
    "pin_memory": "whether the result is in page-locked memory, from which copies to a GPU are faster",
    "generator": "the source of random numbers; the default generator of the device if None",
    "memory_format": "the order of the dimensions in memory",
    "requires_grad": "whether autograd records operations on the result",
    "out": "the tensor that receives the result",
}


def doc_of(callable_: Callable) -> str:
    """The documentation of the built-in function."""
    texts: dict[str, list[str]] = {}
    for overload in callable_.overloads:
        text = "\n\n".join([*_notices(callable_, overload), _text(overload)])
        texts.setdefault(text, []).extend(_signatures(callable_, overload))

    only = text_signature(callable_)
    if only is not None:
        return only + _END_OF_SIGNATURE + "".join(texts)
    return "\n\n".join("\n".join(dict.fromkeys(lines)) + f"\n\n{text}" for text, lines in texts.items())


def text_signature(callable_: Callable) -> str | None:
    """``sum(input, dim=None, keepdim=False, *, dtype=None, out=None)``; None where one line cannot say it."""
    overload, *others = callable_.overloads
    if others or len(_signatures(callable_, overload)) > 1:
        return None

    parts = ["$self"] if callable_.is_method else []
    starred = has_default = False
    for position, parameter in enumerate(overload.parameters):
        if position == overload.self_slot:
            continue

        default = python_default(parameter)
        # CPython evaluates literals only. Names that are keywords can only be passed in a dict.
        if parameter.name in PYTHON_KEYWORDS or (default or "").startswith("torch."):
            return None

        if parameter.is_keyword_only and not starred:
            parts.append("*")
            starred = True
        if default is None and has_default and not starred:
            return None

        has_default |= default is not None
        parts.append(parameter.name if default is None else f"{parameter.name}={default}")
    return f"{callable_.name}({', '.join(parts)})"


def _signatures(callable_: Callable, overload: Overload) -> list[str]:
    """``max(input: Tensor, dim: int, keepdim: bool = False) -> max_dim_results``"""
    return [
        _plain(f"{callable_.name}({parameters}) -> {result}")
        for parameters, result in signatures_of(overload, callable_.is_method)
    ]


def _notices(callable_: Callable, overload: Overload) -> list[str]:
    """What programs are told that use a former name, or a deprecated operator."""
    found = (callable_.notice, overload.body.notice)
    return list(dict.fromkeys(notice.text for notice in found if notice))


def _text(overload: Overload) -> str:
    function = overload.body.function
    text = _with_arguments(function.operator.doc.strip(), overload)
    if function.form != "inplace" or function.operator.each is not None:
        return text

    name = function.python_name.removesuffix("_")
    return (
        f"The in-place form of ``{name}``: writes the result to its first argument, and returns it.\n\n{text}"
    )


def _with_arguments(text: str, overload: Overload) -> str:
    """Completes the ``Args:`` of an entry: types, and the arguments that mean the same everywhere."""
    head, found, rest = text.partition(_ARGS)
    if not found:
        return text

    section, *after = rest.split("\n\n", 1)
    parameters = {p.name: p for i, p in enumerate(overload.parameters) if i != overload.self_slot}
    explained = _explained(section)
    if overload.self_slot >= 0:
        explained.pop("input", None)  # the tensor whose method this is

    for name, meaning in COMMON_ARGUMENTS.items():
        if name in parameters:
            explained.setdefault(name, f"    {name}: {meaning}")
    lines = [_typed(lines, name, parameters) for name, lines in explained.items()]
    return "\n\n".join([head + found + "\n".join(lines) if lines else head, *after])


def _explained(section: str) -> dict[str, str]:
    """The lines on each argument, or on several as in ``a, b: ...``."""
    found: dict[str, str] = {}
    name = ""
    for line in section.split("\n"):
        if line.startswith("     "):
            found[name] += f"\n{line}"
        else:
            name = line.strip().partition(":")[0]
            found[name] = line
    return found


def _typed(lines: str, name: str, parameters: Mapping[str, Parameter]) -> str:
    """``    dim (int): ...`` for ``    dim: ...``."""
    parameter = parameters.get(name)
    if parameter is None:
        return lines
    return lines.replace(f"{name}:", f"{name} ({_plain(type_text(parameter))}):", 1)


def _plain(text: str) -> str:
    """Stubs spell builtins with an underscore, which readers need not see."""
    return _BUILTIN.sub(r"\1", text)
