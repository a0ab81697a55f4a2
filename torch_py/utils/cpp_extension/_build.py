"""Runs the build tools in a separate process, from the checkout or from
the wheel's copy of them, and imports the result."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from types import ModuleType

from torch_py._installation import include_paths, library_paths
from torch_py._libraries import add_library

_PACKAGE = Path(__file__).resolve().parents[2]
_NEEDED = {"yaml": "pyyaml", "jinja2": "jinja2"}
_LOADED: dict[str, int] = {}  # module name -> modification time of the shared object at its import


def build_operators(
    yaml_path: str | os.PathLike[str], output_dir: str | os.PathLike[str] | None = None, verbose: bool = True
) -> ModuleType:
    """Builds the operators declared in ``yaml_path`` and returns the imported module.

    Args:
        yaml_path: the declarations, with ``library: NAME`` at the top. Hand-written kernels are in
            ``aten/native`` next to this file.
        output_dir: the folder for generated files, objects and the shared object; default ``build/STEM``
            next to ``yaml_path``. A second call recompiles only what has changed.
        verbose: whether to show progress; default True. Errors are in the exception in either case.

    Raises:
        FileNotFoundError: if ``yaml_path`` does not exist
        RuntimeError: if the declarations are wrong, something does not compile, or a tool is missing; the
            message says which
    """
    declarations = Path(yaml_path).resolve()
    if not declarations.is_file():
        raise FileNotFoundError(f"build_operators: the file {declarations} does not exist")

    output = declarations.parent / "build" / declarations.stem
    if output_dir is not None:
        output = Path(output_dir).resolve()
    return _import(build_shared_object(declarations, output, verbose))


def build_shared_object(
    declarations: Path, output: Path, verbose: bool = True, portable: bool = False
) -> Path:
    """Builds without importing, and returns the path of the shared object. A `portable` one does not say
    where torch_py's libraries are."""
    missing = [name for module, name in _NEEDED.items() if importlib.util.find_spec(module) is None]
    if missing:
        raise RuntimeError(f"build_operators needs {', '.join(missing)}: pip install {' '.join(missing)}")
    return _run_build(declarations, output, verbose, portable)


def _toolchain(output: Path) -> Path:
    """The folder with codegen, templates and tools: the root of the checkout,
    or what a wheel carries of it, unpacked below ``output``."""
    archive = _PACKAGE / "_toolchain.tar.xz"
    return _unpacked(archive, output) if archive.is_file() else _PACKAGE.parent


def _unpacked(archive: Path, output: Path) -> Path:
    """The contents of the archive, in a folder of ``output`` that is named by them."""
    contents = archive.read_bytes()
    folder = output / f"toolchain-{hashlib.sha256(contents).hexdigest()[:16]}"
    if folder.is_dir():
        return folder

    # Unpacked elsewhere and renamed, so that the folder is complete once it exists.
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output) as temporary:
        unpacked = Path(temporary) / "toolchain"
        with tarfile.open(fileobj=io.BytesIO(contents)) as tar:
            tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
            tar.extractall(unpacked)
        try:
            unpacked.rename(folder)
        except OSError:
            if not folder.is_dir():  # another process was not faster
                raise
    return folder


def _run_build(declarations: Path, output: Path, verbose: bool, portable: bool) -> Path:
    """Runs the build and returns the path of the shared object."""
    command = [
        sys.executable,
        "-m",
        "tools.build.operator_library",
        str(declarations),
        "--output",
        str(output),
    ]
    for folder in include_paths():
        command += ["--include", folder]
    command += ["--libraries", library_paths()[0], *(["--portable"] if portable else [])]
    toolchain = _toolchain(output)
    search_path = os.pathsep.join(filter(None, [str(toolchain), os.environ.get("PYTHONPATH")]))

    # Standard error goes to standard output, so that messages keep their order.
    process = subprocess.Popen(
        command,
        cwd=toolchain,
        env={**os.environ, "PYTHONPATH": search_path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None

    lines: list[str] = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if verbose and line.startswith("["):
            print(line, end="", flush=True)

    if process.wait() != 0:
        raise RuntimeError(f"build_operators: {declarations.name} was not built\n" + "\n".join(lines))
    return Path(lines[-1])


def _import(shared_object: Path) -> ModuleType:
    """Imports the module, or returns it if this build is already imported."""
    name = shared_object.name.split(".")[0]

    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(shared_object):
        if _LOADED[name] == shared_object.stat().st_mtime_ns:
            return loaded
        raise RuntimeError(
            f"build_operators: '{name}' was rebuilt, but this process has the earlier build loaded; start "
            "Python anew to use it"
        )

    spec = importlib.util.spec_from_file_location(name, shared_object)
    assert spec is not None and spec.loader is not None, f"not an extension module: {shared_object}"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    add_library(name, module, shared_object.parent / "generated" / "torch_py" / "_generated")
    _LOADED[name] = shared_object.stat().st_mtime_ns
    return module
