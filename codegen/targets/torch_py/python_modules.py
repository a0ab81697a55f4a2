"""The Python modules that operators belong to, and all that distinguishes them."""

from __future__ import annotations

from typing import NamedTuple


class PythonModule(NamedTuple):
    """The module that an entry names by ``python_module: WORD``."""

    word: str
    path: str  # below the package
    namespace: str  # in torch_py._C, where the generated functions and their stubs are
    enumerator: str  # of torch::python::Module
    owner: str  # as __torch_function__ and error messages know it
    takes_aliases: bool = True

    @property
    def public(self) -> str:
        """The module that programs import: ``torch.linalg``."""
        return {"torch": "torch", "nn": "torch.nn.functional", "private": "torch.ops.aten"}.get(
            self.word, f"torch.{self.word}"
        )

    def name_in(self, base_name: str) -> str:
        """``det`` of ``linalg_det``."""
        return base_name.removeprefix(f"{self.word}_")


_MODULES = (
    PythonModule("torch", "", "_torch", "Torch", "torch"),
    PythonModule("nn", "_C._nn", "_nn", "Nn", "nn"),
    PythonModule("linalg", "linalg", "_linalg", "Linalg", "linalg"),
    PythonModule("special", "special", "_special", "Special", "special"),
    PythonModule("fft", "fft", "_fft", "Fft", "fft"),
    PythonModule("private", "_C._ops", "_ops", "Private", "ops", takes_aliases=False),
)
PYTHON_MODULES = {module.word: module for module in _MODULES}
# Modules whose name begins those of their operators: linalg_det.
PREFIXED = ("linalg", "special", "fft")


def place(name: str, called: object) -> str | None:
    """How formulas in Python call an operator: ``torch.linalg.det``; None for one that is only a method."""
    if called is not None and not getattr(called, "is_function", True):
        return None
    module = getattr(called, "python_module", "torch")
    found = PYTHON_MODULES[module]
    return f"{qualified('torch', module)}.{name if found.path.startswith('_') else found.name_in(name)}"


def qualified(package: str, module: str) -> str:
    """``torch.linalg``"""
    return ".".join(part for part in (package, PYTHON_MODULES[module].path) if part)
