"""What was built for the machine with the GPU, as one file."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

from tools.build import driver
from tools.build.configuration import Configuration
from tools.copies import ROOT, Copy

BUNDLE = ROOT / ".device" / "bundle.tar.xz"

# Only the bindings depend on Python. BLAS is our own, and LAPACK that of a package, so that nothing else has
# to be on the other machine.
_COMPILED = ("aten/blas/", "torch_py/csrc/", "build/generated/torch_py/csrc/bindings/")
_LAPACK = "scipy-openblas32"
_CUDA_LIBRARY = "torch_py/lib/libtorch_py_cuda.so"
_SITE = "build/device-site"


def prepare(python: str, with_cuda: bool = True) -> None:
    """Builds the checkout, and what depends on `python` in a copy of it, and packs the results."""
    subprocess.run([sys.executable, "-m", "tools.build"], cwd=ROOT, check=True)
    if with_cuda:
        build_cuda()
    copy = Copy(ROOT / "build" / "device")
    copy.update()
    copy.build({"TORCH_PY_BLAS": "builtin", "TORCH_PY_PYTHON": python}, _COMPILED)

    site = copy.folder / _SITE
    subprocess.run(
        [sys.executable, *"-m pip install --quiet --no-deps --upgrade --target".split(), site, _LAPACK],
        check=True,
    )
    _pack(copy.folder, site, with_cuda)
    print(f"{BUNDLE.relative_to(ROOT)}: {BUNDLE.stat().st_size / 1e6:.1f} MB")


def build_cuda() -> None:
    """Compiles the kernels; the core that they are linked to need not have been built here."""
    configuration = Configuration.from_environment()
    driver.generate(configuration)
    driver.build_cuda(configuration, "cuda")


def _pack(built: Path, site: Path, with_cuda: bool) -> None:
    BUNDLE.parent.mkdir(exist_ok=True)
    package = built / "torch_py"
    part = BUNDLE.with_suffix(".part")
    with tarfile.open(part, "w:xz", preset=4) as archive:
        for path in [*package.glob("_C*.so"), *package.glob("lib/*"), *package.glob("_generated/*")]:
            archive.add(path, path.relative_to(built), recursive=False)
        if with_cuda:
            archive.add(ROOT / _CUDA_LIBRARY, _CUDA_LIBRARY)
        for path in site.rglob("*"):
            if path.is_file() and path.suffix in (".py", ".so"):
                archive.add(path, path.relative_to(built))
    part.replace(BUNDLE)


def unpack() -> None:
    """Puts the libraries in their places and lets this process and its children import the packages."""
    if BUNDLE.exists():
        with tarfile.open(BUNDLE) as archive:
            archive.extractall(ROOT, filter="data")
    site = str(ROOT / _SITE)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), site, os.environ.get("PYTHONPATH")]))
    os.environ["TORCH_PY_CUDA_LIBRARY"] = str(ROOT / _CUDA_LIBRARY)
