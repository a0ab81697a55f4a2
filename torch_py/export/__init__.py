"""`torch.export`: modules as graphs of operators, which are saved and run without the Python code that they
come from."""

from __future__ import annotations

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.export._export import export as export
from torch_py.export._saving import load as load
from torch_py.export._saving import register_dataclass as register_dataclass
from torch_py.export._saving import save as save
from torch_py.export.dynamic_shapes import Dim as Dim
from torch_py.export.dynamic_shapes import ShapesCollection as ShapesCollection
from torch_py.export.dynamic_shapes import dims as dims
from torch_py.export.exported_program import ExportedProgram as ExportedProgram
from torch_py.export.exported_program import ModuleCallEntry as ModuleCallEntry
from torch_py.export.exported_program import ModuleCallSignature as ModuleCallSignature
from torch_py.export.exported_program import default_decompositions as default_decompositions
from torch_py.export.graph_signature import ExportGraphSignature as ExportGraphSignature

__all__ = [
    "Dim",
    "ExportGraphSignature",
    "ExportedProgram",
    "ModuleCallEntry",
    "ModuleCallSignature",
    "ShapesCollection",
    "default_decompositions",
    "dims",
    "export",
    "export_for_training",
    "load",
    "register_dataclass",
    "save",
]

export_for_training = export  # its older name

__getattr__ = _lacking(__name__, __path__)
