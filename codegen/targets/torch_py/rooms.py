"""The files that hold an operator's C++, which follow from its topic and from the topic's chapter.

A chapter (codegen/model/chapters.py) is the folder of the C++ of its topics. A file without chapters, such as
a library's, may have its C++ anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from codegen.diagnostics import Location
from codegen.model.chapters import chapters_of
from codegen.model.kernels import Kernel
from codegen.model.operator import Operator
from codegen.targets.torch_py.keys import CUDA_FOLDER, CUDA_KEY, LAYOUT_KEYS


def end_of_chapter(text: str, chapter: str) -> int:
    """Where the next chapter's banner begins in the YAML; the end of the text for the last one."""
    chapters = chapters_of(text)
    following = [after for found, after in zip(chapters, chapters[1:]) if found.name == chapter]
    if not following:
        return len(text)
    above = text[: following[0].start].rstrip("\n")
    rule = above.rfind("\n") + 1
    return rule if above[rule:].lstrip().startswith("# --") else following[0].start


def shape_file(operator: Operator) -> str:
    """Where shape rules and compositions belong."""
    return f"aten/native/{_folder(operator)}{operator.topic}.cpp"


def loop_file(operator: Operator, per_isa: bool = True) -> str:
    """Where loops on the CPU belong: ``.isa.cpp`` is compiled once per instruction set."""
    return f"aten/native/cpu/{_folder(operator)}{operator.topic}Kernel{'.isa' if per_isa else ''}.cpp"


def cuda_file(operator: Operator) -> str:
    """Where kernels of the CUDA library belong."""
    return f"{CUDA_FOLDER}/{_folder(operator)}{operator.topic}Kernel.cu"


def layout_file(operator: Operator, key: str) -> str:
    """Where kernels for tensors of another layout belong."""
    return f"{LAYOUT_KEYS[key][0]}/{operator.topic}.cpp"


def kernel_file(operator: Operator, key: str) -> str:
    """Where a new kernel of ``key`` belongs."""
    if key == CUDA_KEY:
        return cuda_file(operator)
    if key in LAYOUT_KEYS:
        return layout_file(operator, key)
    if operator.structure in ("pointwise", "reduction", "shaped", "mutation") and key == "CPU":
        return loop_file(operator)
    return shape_file(operator)


def samples_file(operator: Operator) -> str:
    """Where the generators of arguments for tests belong: one file for each topic."""
    topic = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", operator.topic).lower()
    return f"tests/ops/samples/{topic}.py"


def room(operator: Operator) -> tuple[str, ...]:
    """The files that may hold the C++ of ``operator``'s topic."""
    layouts = (layout_file(operator, key) for key in LAYOUT_KEYS)
    loops = (loop_file(operator), loop_file(operator, per_isa=False))
    return shape_file(operator), *loops, cuda_file(operator), *layouts


def check_room(operator: Operator, found: Iterable[Kernel], belongs: str) -> list[tuple[Location, str, str]]:
    """Location, message and hint for each definition of a function if all of them are in the wrong files.

    A program without chapters may have its C++ in any file.
    """
    definitions = list(found)
    if not operator.chapter or any(kernel.path in room(operator) for kernel in definitions):
        return []
    return [
        (
            Location(kernel.path, kernel.line, 1),
            f"'{kernel.symbol}' is outside the files of its topic {operator.topic}",
            f"move it to {belongs}",
        )
        for kernel in definitions
        if kernel.path.startswith("aten/native/")
    ]


def _folder(operator: Operator) -> str:
    return f"{operator.chapter}/" if operator.chapter else ""
