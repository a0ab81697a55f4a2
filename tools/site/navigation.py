"""The navigation: pages written by hand in the order to read them, and the generated ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tools.site.operators.catalogue import Subject, by_chapter
from tools.site.reference.members import MODULES, full_name

Navigation = list[Any]


def navigation(subjects: Sequence[Subject], tables: Mapping[str, str]) -> Navigation:
    """``tables`` are generated pages by their titles."""
    chapters = [{chapter: f"operators/{chapter}.md"} for chapter in by_chapter(subjects)]
    modules = [f"reference/{full_name(path)}.md" for path in MODULES]
    return [
        {"Start": ["index.md", {"About the project": "readme.md"}, {"Examples": "examples.md"}]},
        {"Tutorials": _TUTORIALS},
        {"Operators": ["operators/index.md", *chapters]},
        {"Reference": ["reference/index.md", *modules]},
        {"Guide": _GUIDE},
        {"Inside": _INSIDE},
        {"Compared with PyTorch": [*_COMPARED, *({title: page} for title, page in tables.items())]},
    ]


_TUTORIALS = [
    {"Train a network": "tutorials/train.md"},
    {"An operator that is a formula": "tutorials/formula.md"},
    {"An operator with a kernel": "tutorials/kernel.md"},
    {"Which structure do I want?": "tutorials/structure.md"},
    {"A package": "tutorials/package.md"},
    {"A device": "tutorials/backend.md"},
]
_GUIDE = [
    {"Contributing": "contributing.md"},
    {"Keys of an entry": "guide/entries.md"},
    {"Documentation of functions": "guide/documenting.md"},
    {"Editors": "guide/editors.md"},
    {"Packages of operators": "guide/packages.md"},
    {"Backends": "guide/backends.md"},
    {"Other targets of the generator": "guide/targets.md"},
    {"CUDA": "guide/cuda.md"},
    {"CUDA fallbacks": "guide/cuda_fallbacks.md"},
    {"On a GPU": "guide/device.md"},
    {"Calls seen from Python": "guide/dispatch.md"},
    {"torch.compile": "guide/compile.md"},
    {"Programs as graphs": "guide/fx.md"},
    {"Saved programs": "guide/export.md"},
    {"ONNX": "guide/onnx.md"},
    {"Calls that wait": "guide/synchronising.md"},
    {"The mkldnn layout": "guide/mkldnn.md"},
]
_INSIDE = [
    {"Architecture": "guide/architecture.md"},
    {"The compiler": "guide/compiler.md"},
    {"Compiled loops": "guide/compiled_loops.md"},
    {"Performance": "guide/performance.md"},
    {"Counts": "guide/counts.md"},
]
_COMPARED = [
    {"Parity": "guide/parity.md"},
    {"What is tested": "guide/tested.md"},
    {"Programs": "guide/programs.md"},
    {"Compiled programs": "guide/compiled_programs.md"},
]
