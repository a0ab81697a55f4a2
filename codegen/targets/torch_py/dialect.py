"""The dialect of torch_py: its dtypes, dispatch keys, modules and tags, and where its C++ and samples are.

Nothing of the model is imported before a file is read, so that ``generate`` with nothing to do is quick.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.dialect import REQUIREMENTS, Checks, Dialect
from codegen.targets.torch_py import keys, scanned
from codegen.targets.torch_py.python_modules import PREFIXED, PYTHON_MODULES

if TYPE_CHECKING:
    from codegen.model.kernels import Kernel, KernelIndex
    from codegen.model.taken_names import TakenNames
    from codegen.schema import FunctionSchema


def implied_kernel(schema: FunctionSchema, structure: str) -> tuple[str, str]:
    """Dispatch key and function: ``All: softmax`` of a composite, ``CPU: relu_kernel`` of a loop."""
    from codegen.model.implied import cpp_name

    if structure in keys.ALL_STRUCTURES:
        return "All", cpp_name(schema)
    if structure in keys.LOOP_STRUCTURES:
        return "CPU", f"{cpp_name(schema).strip('_')}_kernel"
    return "CPU", cpp_name(schema)


def implied_module(schema: FunctionSchema) -> str:
    """``linalg`` for ``linalg_det``, ``private`` for ``_to_copy``, otherwise ``torch``."""
    from codegen.model.implied import python_module

    return python_module(schema, DIALECT)


def _kernels(folder: Path, planned: Sequence[Kernel]) -> KernelIndex:
    from codegen.targets.torch_py.kernels import scan_kernels

    return scan_kernels(folder, planned)


def _samples(folder: Path) -> frozenset[str] | None:
    from codegen.targets.torch_py.samples import scan_samples

    return scan_samples(folder)


def _taken_names(folder: Path) -> TakenNames:
    from codegen.targets.torch_py.taken_names import scan_taken_names

    return scan_taken_names(folder)


def _version(folder: Path) -> str | None:
    path = scanned.version_file(folder)
    found = re.search(r'^__version__ = "(.*)"', path.read_text("utf-8"), re.M) if path.is_file() else None
    return found[1] if found else None


def _checks() -> Checks:
    from codegen.targets.torch_py import checks

    return Checks(checks.check, checks.check_program)


DIALECT = Dialect(
    required=frozenset(REQUIREMENTS),
    dispatch_keys=keys.DISPATCH_KEYS,
    implied_kernel=implied_kernel,
    main_keys=frozenset(["All", "CPU"]),
    additional_keys=frozenset([keys.INPLACE_KEY, keys.CUDA_KEY, "Meta"]),
    modules=tuple(PYTHON_MODULES),
    prefixed_modules=PREFIXED,
    places={word: module.public for word, module in PYTHON_MODULES.items()},
    method_place="torch.Tensor",
    tags=keys.TAGS,
    kernels=_kernels,
    samples=_samples,
    taken_names=_taken_names,
    version=_version,
    scanned_files=scanned.files,
    checks=_checks,
)
