"""Creates .venv if needed, and installs the packages of pyproject.toml when their list has changed.

Runs before anything is installed, under any Python from 3.10 on, so it uses the standard library only:

    python3 tools/build/bootstrap.py [--venv .venv] [--extra test ...]
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
VERSION_FILE = ROOT / "torch_py/version.py"
STAMP = ".torch_py-requirements-{group}"
BUILD_GROUP = "build"
# Who has installed torch_py, in the words of the packaging standard's file of that name.
INSTALLER = "make"
IMPORT_PATH = "torch_py_checkout.pth"
SECONDS_BETWEEN_LINES = 10.0
# A build can do without these: our own plain BLAS takes their place.
OPTIONAL = ("mkl-static", "mkl-include", "scipy-openblas32")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv")
    parser.add_argument(
        "--extra", action="append", default=[], help="also install this extra of pyproject.toml"
    )
    parser.add_argument("--base-python", default=sys.executable, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)

    check_python_version()
    python = options.venv / "bin" / "python"
    if not python.exists():
        make_venv(options.venv)
    make_importable(options.venv)

    stale = [group for group in [BUILD_GROUP, *options.extra] if not is_current(options.venv, group)]
    if not stale:
        return 0

    # Only the environment's own pip reads TOML on Python 3.10.
    if Path(sys.prefix).resolve() != options.venv.resolve():
        given = sys.argv[1:] if arguments is None else arguments
        return subprocess.call(
            [str(python), str(Path(__file__).resolve()), *given, "--base-python", sys.executable]
        )

    for group in stale:
        install(options.venv, group, options.base_python)
    return 0


def check_python_version() -> None:
    if sys.version_info < (3, 10):  # noqa: UP036 - this file is what tells users of an older Python
        fail(
            f"Python 3.10 or newer is needed, this is {sys.version.split()[0]}; choose another with: make "
            "PYTHON=python3.11"
        )


def make_venv(venv: Path) -> None:
    print(f"[setup] creating {venv.name} with Python {sys.version.split()[0]}", flush=True)
    result = subprocess.run([sys.executable, "-m", "venv", str(venv)], capture_output=True, text=True)
    if result.returncode != 0:
        subprocess.run(["rm", "-rf", str(venv)])
        fail(
            f"cannot create {venv}: {result.stdout}{result.stderr}\nOn Debian/Ubuntu: sudo apt install "
            "python3-venv"
        )


def make_importable(venv: Path) -> None:
    """Lets the environment's interpreter import torch_py from this checkout, in any working directory."""
    for packages in venv.glob("lib/python*/site-packages"):
        path = packages / IMPORT_PATH
        if not path.exists() or path.read_text() != f"{ROOT}\n":
            path.write_text(f"{ROOT}\n")


def register(packages: Path) -> None:
    """Tells pip in the environment that torch_py is installed, as an editable install would.

    Packages of operators depend on it, and pip looks for torch_py in an index otherwise.
    """
    for folder in packages.glob("torch_py-*.dist-info"):
        if (folder / "INSTALLER").read_text().strip() != INSTALLER:
            return  # pip has installed it here itself
        shutil.rmtree(folder)

    folder = packages / f"torch_py-{version()}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("\n".join(metadata()) + "\n")
    (folder / "INSTALLER").write_text(f"{INSTALLER}\n")
    source = {"url": ROOT.as_uri(), "dir_info": {"editable": True}}
    (folder / "direct_url.json").write_text(json.dumps(source))

    # What `pip uninstall` and a later `pip install` remove.
    names = ("METADATA", "INSTALLER", "direct_url.json", "RECORD")
    files = [IMPORT_PATH, *(f"{folder.name}/{name}" for name in names)]
    (folder / "RECORD").write_text("".join(f"{name},,\n" for name in files))


def version() -> str:
    found = re.search(r'^__version__ = "(.+)"$', VERSION_FILE.read_text(), re.MULTILINE)
    assert found is not None, f"no __version__ in {VERSION_FILE}"
    return found[1]


def metadata() -> list[str]:
    """The lines of METADATA: name, version, and what torch_py and its extras require."""
    project = pyproject()["project"]
    lines = ["Metadata-Version: 2.1", "Name: torch_py", f"Version: {version()}"]
    lines += [f"Summary: {project['description']}"]
    lines += [f"Requires-Dist: {requirement}" for requirement in project["dependencies"]]

    for extra, listed in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {requirement}; extra == "{extra}"' for requirement in listed]
    return lines


def pyproject() -> dict[str, Any]:
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "pip._vendor.tomli")
    document: dict[str, Any] = toml.loads((ROOT / "pyproject.toml").read_text())
    return document


def requirements(group: str) -> list[str]:
    """What pyproject.toml lists for the build or for an extra, with the BLAS that TORCH_PY_BLAS asks for."""
    document = pyproject()
    if group != BUILD_GROUP:
        extras = document["project"]["optional-dependencies"]
        if group not in extras:
            fail(f"pyproject.toml has no extra '{group}'; it has {', '.join(extras)}")
        return list(extras[group])
    # pip reads the two lists separately, so some packages are in both.
    listed = list(
        dict.fromkeys([*document["build-system"]["requires"], *document["project"]["dependencies"]])
    )
    blas = os.environ.get("TORCH_PY_BLAS")
    if blas in ("openblas", "builtin"):
        listed = [
            requirement for requirement in listed if not requirement.startswith(("mkl-", "scipy-openblas"))
        ]
    if blas == "openblas":
        listed.append("scipy-openblas32>=0.3.29")
    return listed


def fingerprint(group: str) -> str:
    text = (ROOT / "pyproject.toml").read_text()
    if group == BUILD_GROUP:
        text += os.environ.get("TORCH_PY_BLAS", "") + version()
    return hashlib.sha256(text.encode()).hexdigest()


def is_current(venv: Path, group: str) -> bool:
    stamp = venv / STAMP.format(group=group)
    return stamp.exists() and stamp.read_text() == fingerprint(group)


def install(venv: Path, group: str, base_python: str) -> None:
    wanted = requirements(group)
    names = ", ".join(re.split(r"[\s;<>=!~\[]", requirement)[0] for requirement in wanted)
    print(f"[setup] installing {group} requirements: {names}", flush=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--progress-bar",
        "off",
        "--disable-pip-version-check",
        *wanted,
    ]

    status, errors = run_with_news(pip)
    if status != 0:
        see_packages_of(base_python)
        missing = not_installed(wanted)
        if missing:
            hint = f"Without a network, {base_python} must have them; it lacks {', '.join(missing)}."
            fail(f"pip could not install the {group} requirements:\n{errors.strip()}\n{hint}")
        print(
            "[setup] pip could not reach an index: going on with the packages that this machine has",
            flush=True,
        )

    if group == BUILD_GROUP:
        register(Path(sysconfig.get_paths()["purelib"]))
    (venv / STAMP.format(group=group)).write_text(fingerprint(group))


def run_with_news(command: list[str], seconds: float = SECONDS_BETWEEN_LINES) -> tuple[int, str]:
    """Runs a long download, printing a line of progress now and then; returns exit status and stderr."""
    started = time.monotonic()
    lines: list[str] = []

    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdout is not None
        reader = threading.Thread(target=lines.extend, args=(process.stdout,), daemon=True)
        reader.start()

        while True:
            try:
                status = process.wait(seconds)
                break
            except subprocess.TimeoutExpired:
                words = ("Collecting", "Downloading", "Installing")
                news = [line.strip() for line in lines if line.lstrip().startswith(words)]
                print(
                    f"[setup] {time.monotonic() - started:3.0f} s: "
                    f"{news[-1][:100] if news else 'waiting for pip'}",
                    flush=True,
                )

        reader.join(timeout=1)  # the block closes what it reads
        errors.seek(0)
        return status, errors.read()


def see_packages_of(base_python: str) -> None:
    """Lets the environment import the packages of the interpreter that created it."""
    program = "import sys; print('\\n'.join(path for path in sys.path if path.endswith('-packages')))"
    paths = subprocess.run([base_python, "-c", program], capture_output=True, text=True).stdout
    (Path(sysconfig.get_paths()["purelib"]) / "packages_of_base_python.pth").write_text(paths)


def not_installed(wanted: list[str]) -> list[str]:
    """The missing packages, as a new interpreter sees them: it knows what see_packages_of has added."""
    program = (
        "import importlib.metadata, shutil, sys\n"
        "from pip._vendor.packaging.requirements import Requirement\n"
        "installed = {(d.metadata['Name'] or '').lower().replace('_', '-') for d in "
        "importlib.metadata.distributions()}\n"
        "for requirement in map(Requirement, sys.argv[1:]):\n"
        "    name = requirement.name.lower().replace('_', '-')\n"
        "    if not (requirement.marker and not requirement.marker.evaluate()) and name not in installed "
        "and not shutil.which(name):\n"
        "        print(name)\n"
    )

    result = subprocess.run(
        [sys.executable, "-c", program, *wanted], capture_output=True, text=True, check=True
    )
    return [name for name in result.stdout.split() if name not in OPTIONAL]


def fail(message: str) -> None:
    sys.exit(f"[setup] error: {message}")


if __name__ == "__main__":
    sys.exit(main())
