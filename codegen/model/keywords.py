"""Keywords of C++ and Python, and macros that generated code must avoid."""

from __future__ import annotations

import keyword

CPP_KEYWORDS = frozenset(
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t "
    "class co_await co_return "
    "co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete "
    "do double dynamic_cast "
    "else enum explicit export extern false float for friend goto if inline int long mutable namespace new "
    "noexcept not not_eq "
    "nullptr operator or or_eq private protected public register reinterpret_cast requires return short "
    "signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try typedef typeid "
    "typename union unsigned using "
    "virtual void volatile wchar_t while xor xor_eq".split()
)
# Macros of the headers that every generated source includes; some compilers define the names of the system as
# well.
CPP_MACROS = frozenset("EOF INFINITY NAN NULL assert errno linux stderr stdin stdout unix".split())

PYTHON_KEYWORDS = frozenset(keyword.kwlist)
# random_(from, to) of PyTorch: given by position in every program, or by **{"from": 1}.
PYTHON_KEYWORD_ARGUMENTS = frozenset(["from"])


def cpp_identifier(name: str) -> str:
    """``float_`` for ``float``."""
    return f"{name}_" if name in CPP_KEYWORDS or name in CPP_MACROS else name
