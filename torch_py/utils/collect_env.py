"""Collects what a problem report should say about the machine: `python -m torch_py.utils.collect_env`."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from torch_py import _C, version
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.version import __version__

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main"]

_PACKAGES = ("numpy", "torch_py", "torch", "mkl", "onnx", "safetensors", "optree")


class SystemEnv(NamedTuple):
    """Versions and settings, as text."""

    torch_version: str
    is_debug_build: str
    cuda_compiled_version: str
    gcc_version: str
    libc_version: str
    os: str
    python_version: str
    python_platform: str
    is_cuda_available: str
    cpu_info: str
    cpu_capability: str
    threads: str
    pip_packages: str


def _first_line(*command: str) -> str:
    """The first line of the command's output, or 'N/A' if the command cannot be run."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return "N/A"
    return (result.stdout.splitlines() or ["N/A"])[0]


def _system() -> str:
    try:
        release = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        release = platform.platform(terse=True)
    return f"{release} ({platform.machine()})"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} x {names[0] if names else platform.processor() or platform.machine()}"


def _packages() -> str:
    found = []
    for name in _PACKAGES:
        try:
            found.append(f"{name}=={metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return "\n".join(found) or "N/A"


def get_env_info() -> SystemEnv:
    """The versions and settings that matter to torch_py."""
    bits = 64 if sys.maxsize > 2**32 else 32

    return SystemEnv(
        torch_version=__version__,
        is_debug_build="N/A",
        cuda_compiled_version=str(version.cuda),
        gcc_version=_first_line("gcc", "--version"),
        libc_version="-".join(platform.libc_ver()) or "N/A",
        os=_system(),
        python_version=f"{sys.version} ({bits}-bit runtime)".replace("\n", " "),
        python_platform=platform.platform(),
        is_cuda_available=str(_C._cuda_getDeviceCount() > 0),
        cpu_info=_processor(),
        cpu_capability=str(_C._cpu_capability()),
        threads=str(_C.get_num_threads()),
        pip_packages=_packages(),
    )


def get_pretty_env_info() -> str:
    """`get_env_info` as lines for a report."""
    return "Collected environment\n" + "\n".join(
        f"{name.replace('_', ' ')}: {value}" for name, value in get_env_info()._asdict().items()
    )


def main() -> None:
    """Prints the report."""
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()

__getattr__ = _lacking(__name__)
