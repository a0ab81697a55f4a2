"""Tensors, automatic differentiation and neural networks behind PyTorch's API: `import torch_py as torch`.

Operators come from the native module; the Python modules build on them. Submodules that a program may not
need are imported when they are first named, so that `import torch_py` stays fast.
"""

from __future__ import annotations

import importlib as _importlib
import math as _math
from typing import TYPE_CHECKING
from typing import Any as _Any

from torch_py import _C, _pytorch_names
from torch_py._namespace import export_operators as _export_operators
from torch_py._tensor import Tensor as Tensor
from torch_py.version import __version__ as __version__

_C._set_tensor_class(Tensor)  # before anything makes a tensor
_pytorch_names.install(__path__)

from torch_py import _tensor_methods  # noqa: E402
from torch_py._exports import *  # noqa: E402
from torch_py._functional import *  # noqa: E402
from torch_py._functional._checks import (  # noqa: E402
    _assert,
    _assert_async,
    _assert_scalar,
    _check,
    _check_index,
    _check_is_size,
    _check_not_implemented,
    _check_tensor_all,
    _check_tensor_all_with,
    _check_type,
    _check_value,
    _check_with,
)
from torch_py._pytorch_names.layouts import add_methods as _add_absent_methods  # noqa: E402
from torch_py._pytorch_names.native_module import add_native_names as _add_native_names  # noqa: E402
from torch_py._pytorch_names.packages import lacking as _lacking  # noqa: E402
from torch_py._pytorch_names.private_functions import *  # noqa: E402
from torch_py._settings import *  # noqa: E402
from torch_py._settings import _register_device_module  # noqa: E402
from torch_py._storage_methods import add_storage_methods as _add_storage_methods  # noqa: E402
from torch_py.amp._older_names import *  # noqa: E402

e = _math.e
pi = _math.pi
inf = _math.inf
nan = _math.nan
newaxis = None


def compiled_with_cxx11_abi() -> bool:
    """Whether the library uses the ABI of the standard library since GCC 5, as it does.

    Example:
        >>> torch.compiled_with_cxx11_abi()
        True
    """
    return True


def _fill_constants(target: dict[str, _Any]) -> None:
    """Adds dtypes, layouts and memory formats, under their names and their short names."""
    for name in dir(_C):
        value = getattr(_C, name)
        if not name.startswith("_") and isinstance(value, (_C.dtype, _C.layout, _C.memory_format)):
            target[name] = value

    # Names of dtypes.
    aliases = {
        "float": "float32",
        "double": "float64",
        "half": "float16",
        "short": "int16",
        "int": "int32",
        "long": "int64",
        "cfloat": "complex64",
        "cdouble": "complex128",
        "chalf": "complex32",
    }

    for alias, name in aliases.items():
        if name in target:
            target[alias] = target[name]


_fill_constants(globals())
_mkldnn = _C._mkldnn
legacy_contiguous_format = _C.contiguous_format  # the older name

_export_operators(_C._torch, globals())
_add_native_names(_C)
_add_storage_methods()
_add_absent_methods(Tensor)

# Imported when they are first named.
_LAZY_MODULES = (
    "__config__",
    "_decomp",
    "_guards",
    "_logging",
    "_subclasses",
    "_utils",
    "accelerator",
    "amp",
    "autograd",
    "backends",
    "compiler",
    "cpu",
    "cuda",
    "distributed",
    "distributions",
    "export",
    "fft",
    "func",
    "functional",
    "futures",
    "fx",
    "hub",
    "jit",
    "library",
    "linalg",
    "masked",
    "multiprocessing",
    "nn",
    "onnx",
    "optim",
    "overrides",
    "profiler",
    "quasirandom",
    "random",
    "return_types",
    "serialization",
    "signal",
    "special",
    "storage",
    "testing",
    "torch_version",
    "types",
    "utils",
    "version",
)
_LAZY_FUNCTIONS = {
    "Future": "futures",
    "DisableTorchFunction": "_torch_function",
    "DisableTorchFunctionSubclass": "_torch_function",
    "GradScaler": "amp",
    "PyTorchFileReader": "_serialization.archive_reader",
    "StorageBase": "storage",
    "ScriptFunction": "jit",
    "ScriptModule": "jit",
    "autocast": "amp",
    "compile": "compiler",
    "dsmm": "sparse",
    "sparse_bsc_tensor": "_pytorch_names.layouts",
    "sparse_bsr_tensor": "_pytorch_names.layouts",
    "sparse_compressed_tensor": "_pytorch_names.layouts",
    "sparse_coo_tensor": "_pytorch_names.layouts",
    "sparse_csc_tensor": "_pytorch_names.layouts",
    "sparse_csr_tensor": "_pytorch_names.layouts",
    "spmm": "sparse",
    "ops": "_ops",
    "vmap": "func",
    **dict.fromkeys(
        (
            "AnyType",
            "BoolType",
            "ComplexType",
            "DeviceObjType",
            "DictType",
            "FloatType",
            "IntType",
            "ListType",
            "NoneType",
            "NumberType",
            "OptionalType",
            "StringType",
            "TensorType",
            "TupleType",
            "Type",
        ),
        "_schema_types",
    ),
    "Tag": "_tags",
    "SymBool": "_pytorch_names.symbolic_numbers",
    "SymFloat": "_pytorch_names.symbolic_numbers",
    "SymInt": "_pytorch_names.symbolic_numbers",
    "sym_constrain_range": "_pytorch_names.symbolic_numbers",
    "sym_constrain_range_for_size": "_pytorch_names.symbolic_numbers",
    "sym_float": "_pytorch_names.symbolic_numbers",
    "sym_int": "_pytorch_names.symbolic_numbers",
    "sym_ite": "_pytorch_names.symbolic_numbers",
    "sym_max": "_pytorch_names.symbolic_numbers",
    "sym_min": "_pytorch_names.symbolic_numbers",
    "sym_not": "_pytorch_names.symbolic_numbers",
    "sym_sqrt": "_pytorch_names.symbolic_numbers",
    "sym_sum": "_pytorch_names.symbolic_numbers",
}
_LEGACY_TENSOR_TYPES = (
    "FloatTensor",
    "DoubleTensor",
    "HalfTensor",
    "BFloat16Tensor",
    "LongTensor",
    "IntTensor",
    "ShortTensor",
    "CharTensor",
    "ByteTensor",
    "BoolTensor",
)
_STORAGE_TYPES = (
    "TypedStorage",
    "FloatStorage",
    "DoubleStorage",
    "HalfStorage",
    "BFloat16Storage",
    "LongStorage",
    "IntStorage",
    "ShortStorage",
    "CharStorage",
    "ByteStorage",
    "BoolStorage",
    "ComplexFloatStorage",
    "ComplexDoubleStorage",
)


_absent = _lacking("torch_py")


def __getattr__(name: str) -> _Any:
    if name in _LAZY_MODULES:
        return _importlib.import_module(f"torch_py.{name}")
    if name in _LAZY_FUNCTIONS:
        found = getattr(_importlib.import_module(f"torch_py.{_LAZY_FUNCTIONS[name]}"), name)
        if name == "ops":
            globals()[name] = found  # the code of graphs asks for it at every operator
        return found

    if name == "has_cuda":
        return _C._cuda_isLoaded()
    if name == "__array_namespace_info__":
        return _importlib.import_module("torch_py._array_api").__array_namespace_info__
    if name in _LEGACY_TENSOR_TYPES:
        return getattr(_importlib.import_module("torch_py._pytorch_names.tensor_types"), name)
    if name == "_grouped_mm":
        return _importlib.import_module("torch_py.nn.functional").grouped_mm
    if name == "Storage":
        name = "FloatStorage"
    if name in _STORAGE_TYPES:
        return getattr(_importlib.import_module("torch_py.storage"), name)

    if name in (absent := _importlib.import_module("torch_py._pytorch_names.dtypes").absent_dtypes):
        return absent[name]
    if name in _pytorch_names.names_in("torch_py"):
        return _importlib.import_module(f"torch_py.{name}")
    return _absent(name)


def __dir__() -> list[str]:
    modules = (*_LAZY_MODULES, *_pytorch_names.names_in("torch_py"))
    public = (name for name in modules if not name.startswith("_"))
    return sorted({*globals(), *public, *_LAZY_FUNCTIONS, *_LEGACY_TENSOR_TYPES, *_STORAGE_TYPES})


if TYPE_CHECKING:
    from torch_py._generated._torch import *  # type: ignore[assignment]
    from torch_py._typing_names import *
