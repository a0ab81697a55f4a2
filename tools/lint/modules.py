"""The layers of torch_py's Python modules: imports go downward, and they are at the top of the file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .finding import Finding

# From the bottom to the top. A name means the module and all below it, unless one of those has a place
# of its own; `.__init__` is the package's own module alone. Modules of one layer do not import one another,
# except within a package.
LAYERS: tuple[tuple[str, ...], ...] = (
    # Values of any module, and a lock.
    ("_compiling", "_records", "autograd._rehearsal"),
    # Names that are refused, which any module may have.
    (
        "_generated_files", "_installation", "_libraries", "_pytorch_names.elsewhere",
        "_pytorch_names.compiler_settings",
        "_pytorch_names.lacking", "_pytorch_names.log_topics", "_pytorch_names.packages", "_schema_types",
        "_tags", "utils._config_module", "utils._contextlib",
    ),
    # What needs the native module alone.
    (
        "_contract", "_cuda_arrays", "_device_module", "_dispatch_keys", "_inductor.__init__",
        "_inductor.config", "_inductor.options", "_logging", "_namespace", "_notices",
        "_product_precision", "_schemas",
        "_serialization.budget", "_serialization.storage_types", "_storage_files",
        "_thread_state",
        "_torch_function", "_wrappers", "autograd.grad_mode", "backends.mha", "distributed._world",
        "futures", "profiler", "signal", "torch_version", "utils._pytree",
        "utils._pytree_classes", "utils._pytree_keys", "utils._pytree_text", "utils._swapping",
        "utils.hooks", "version",
    ),
    # The tensor, and namespaces of operators.
    (
        "__config__", "_tensor", "autograd.function", "autograd.profiler", "backends", "compiler._functions",
        "fft", "linalg", "return_types", "special", "utils.__init__",
    ),
    # Types for annotations, which name the tensor.
    ("types",),
    # What works on tensors one by one: text, random numbers, storages, parameters.
    (
        "_functional._checks", "_functional._einsum", "_functional._lobpcg",
        "_functional._lowrank", "_pytorch_names", "_tensor_str", "amp", "nn.functional._dropout",
        "nn.parameter", "quasirandom", "random", "storage", "testing", "utils.tensorboard",
    ),
    # Functions of the torch namespace, settings, and the format of files.
    (
        "_functional", "_ops", "_pytorch_names.kinds", "_serialization", "_settings", "_storage_methods",
        "cpu", "cuda",
    ),
    # Layers of networks, files.
    (
        "_array_api", "_pytorch_names.table", "_utils", "functional", "multiprocessing", "nn",
        "serialization", "utils.deterministic",
    ),
    # What is made for networks: optimizers, data, devices.
    (
        "_exports", "_functorch.modules", "_overridable", "_pytorch_names.__init__",
        "_pytorch_names.finder", "accelerator",
        "compiler._marks", "compiler._optimized_module", "compiler._questions", "compiler._stance",
        "distributions", "hub", "nn.parallel", "optim", "utils.data",
    ),
    # What takes over calls of functions.
    ("as_torch", "overrides"),
    ("_pytorch_names.modules", "autograd._saved_copies", "autograd.graph"),
    ("autograd.__init__", "utils"),
    # Transforms of functions, which differentiate.
    (
        "_functorch", "_subclasses", "_tensor_methods", "autograd.variable", "cuda._graphed",
        "nn.utils", "utils.checkpoint",
    ),
    # What compilers know, which asks for fake tensors.
    ("_guards", "utils.backend_registration", "utils.build_operators", "utils.cpp_extension"),
    (
        "_decomp", "_pytorch_names.modules._functorch_native", "_pytorch_names.native_module",
        "autograd.forward_ad", "autograd.functional",
        "distributed", "func", "fx", "masked", "onnx",
    ),
    # Operators of programs.
    ("_custom_ops",),
    # Sizes that vary; what compiles programs, from their graphs down to kernels; programs that are saved.
    ("_shapes",),
    ("_functorch.aot", "_functorch.aot_autograd", "_functorch.compilers"),
    ("_inductor",),
    ("_dynamo",),
    ("compiler",),
    ("export", "library"),
    ("jit",),
    ("_pytorch_names.modules._jit_internal",),
    ("autograd._jacobians", "__init__"),
    ("autograd._gradcheck",),
    ("testing.operators",),
)  # fmt: skip
# These use torch_py as programs do. The package imports none of them before it is complete.
USERS = (
    "as_torch",
    "_dynamo",
    "_overridable",
    "distributions",
    "export",
    "fx",
    "jit",
    "onnx",
    "testing.operators",
)
PACKAGE = "torch_py"
_NATIVE = ("torch_py._C", "torch_py._generated")
_LAYER_OF = {name: number for number, layer in enumerate(LAYERS) for name in layer}


@dataclass(frozen=True)
class Import:
    line: int
    module: str
    in_function: bool


def check_module(path: str, text: str, known: frozenset[str]) -> Iterator[Finding]:
    """Findings about the imports of one file of torch_py; `known` are all modules that are files."""
    module = module_name(path)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return  # layering.check_imports reports it

    own = layer_of(module)
    if own is None:
        yield Finding(path, 1, f"{module} is in no layer; add it to LAYERS in tools/lint/modules.py")
        return

    lines = text.splitlines()
    for found in own_imports(tree, module, path.endswith("__init__.py"), known):
        yield from _check_direction(path, module, own, found)
        if found.in_function and not _is_explained(lines, found.line):
            yield Finding(
                path,
                found.line,
                f"{found.module} is imported inside a function; import it at the top of the file, or "
                "say why not in a comment on the line above",
            )


def _check_direction(path: str, module: str, own: int, found: Import) -> Iterator[Finding]:
    if found.module == PACKAGE:
        if not short(module).startswith(USERS):
            yield Finding(path, found.line, f"{module} must not import {PACKAGE} itself; import the module")
        return

    other = layer_of(found.module)
    same_package = short(module).split(".")[0] == short(found.module).split(".")[0]
    if other is None or other < own or (other == own and same_package):
        return
    yield Finding(
        path,
        found.line,
        f"{module} (layer {own}) must not import {found.module} (layer {other}): imports go downward; let "
        "the upper module register what the lower one calls, or move the shared part down (LAYERS in "
        "tools/lint/modules.py)",
    )


def module_name(path: str) -> str:
    """torch_py/nn/__init__.py -> torch_py.nn"""
    parts = Path(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def short(module: str) -> str:
    """torch_py.nn.init -> nn.init"""
    return module[len(PACKAGE) + 1 :]


def layer_of(module: str) -> int | None:
    """The number of a module's layer, by the longest name that fits.

    A module that is not a file is one of the absent ones, which `_pytorch_names` makes.
    """
    name = short(module)
    exact = f"{name}.__init__" if name else "__init__"
    while exact not in _LAYER_OF:
        if not name:
            return None
        exact = name
        name = name.rpartition(".")[0]
    return _LAYER_OF[exact]


def own_imports(tree: ast.AST, module: str, is_package: bool, known: frozenset[str]) -> Iterator[Import]:
    """The imports of torch_py's modules, without those for type checkers only."""
    package = module if is_package else module.rpartition(".")[0]
    for node, in_function in _statements(tree, False):
        for name in _imported(node, package, known):
            if name.split(".")[0] == PACKAGE and not name.startswith(_NATIVE):
                yield Import(node.lineno, name, in_function)


def _statements(node: ast.AST, in_function: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, in_function
        elif not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
            yield from _statements(child, in_function or is_function)


def _imported(node: ast.Import | ast.ImportFrom, package: str, known: frozenset[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (name.name for name in node.names)
        return

    base = node.module or ""
    if node.level:
        parent = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
        base = f"{parent}.{base}".rstrip(".")
    for name in node.names:
        inside = f"{base}.{name.name}"
        yield inside if inside in known or inside in _NATIVE else base


def _is_explained(lines: list[str], line: int) -> bool:
    """Whether a comment is above the import, or above the imports that it follows."""
    above = line - 2
    while above > 0 and lines[above].lstrip().startswith(("import ", "from ")):
        above -= 1
    comment = lines[above].lstrip()
    return comment.startswith("#") and not comment.startswith(("# noqa", "# type:", "# fmt:", "# ruff:"))
