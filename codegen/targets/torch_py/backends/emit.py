"""Writes the C++ that connects a backend to the library, and the list of what it lacks."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

from codegen.output import layout
from codegen.output.generation import write_output
from codegen.output.templates import Templates
from codegen.output.writer import GenerateReport
from codegen.targets.torch_py import TARGET
from codegen.targets.torch_py.backends.reading import DEVICE_FUNCTIONS, HOOKS_FUNCTION, Backend, BackendKernel

_FALLBACKS = "fallbacks.md"


def generate_backend(backend: Backend, output: Path) -> GenerateReport:
    """Brings the folder up to date; files that do not change keep their time."""
    templates = Templates(backend.file, TARGET)
    known = HOOKS_FUNCTION if "hooks" in backend.device else DEVICE_FUNCTIONS
    declarations = [known[key].format(function) for key, function in backend.device.items()]
    rendered = {
        "register/Kernels.cpp": templates.render(
            "backend/Kernels.cpp",
            backend=backend.name,
            headers=sorted({kernel.header for kernel in backend.kernels}),
            declarations=list(dict.fromkeys(kernel.declaration for kernel in backend.kernels)),
            kernels=backend.kernels,
        ),
        "register/Device.cpp": templates.render(
            "backend/Device.cpp",
            backend=backend.name,
            declarations=declarations,
            device=SimpleNamespace(**backend.device),
            has_hooks="hooks" in backend.device,
        ),
        "kernels.json": json.dumps([_facts(kernel) for kernel in backend.kernels], indent=1) + "\n",
        _FALLBACKS: templates.render("backend/fallbacks.md", backend=backend),
    }
    files = {path: layout.wrapped(path, text) for path, text in rendered.items()}

    return write_output(output, files, "")


def _facts(kernel: BackendKernel) -> dict[str, object]:
    """What the tests of the backend need to know of an operator."""
    operator = kernel.operator
    return {
        "name": operator.name,
        "unambiguous_name": operator.unambiguous_name,
        "samples": operator.samples,
        "dtypes": list(operator.dtypes),
        "kernel": kernel.function,
    }
