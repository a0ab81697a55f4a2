"""Makes `import torch` import torch_py, for programs that are not to be changed.

    python -m torch_py.as_torch script.py ARGUMENTS
    python -m torch_py.as_torch -m pytest tests
    python -m torch_py.as_torch -c "import torch; print(torch.ones(2))"

or, before anything imports torch, `torch_py.as_torch.install()`. Modules are shared, not copied: `torch.nn`
is `torch_py.nn`. An installed PyTorch is not imported. The same holds in processes that the program starts
with the same Python.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch_py
from torch_py.as_torch._aliases import ALIAS, AliasFinder, add_alias, claim_names, claim_native_names
from torch_py.as_torch._version import COMPATIBLE_WITH, TorchVersion

__all__ = ["COMPATIBLE_WITH", "install", "is_installed"]

# Contains a package `torch` that calls install(), by which child processes come here.
SHADOW = Path(__file__).parent / "shadow"


def is_installed() -> bool:
    """Whether `import torch` means torch_py in this process."""
    return any(isinstance(finder, AliasFinder) for finder in sys.meta_path)


def install(*, children: bool = True) -> None:
    """Makes `torch` and its submodules mean torch_py, from here on and for the whole process; a second call
    does nothing.

    With `children`, processes started later inherit it through `sys.path` (multiprocessing) and the
    environment variable PYTHONPATH (subprocess). Raises RuntimeError when PyTorch itself has been imported
    already: its objects and ours would mix.
    """
    if is_installed():
        return
    there = sys.modules.get("torch")
    if there is not None and there is not torch_py and str(SHADOW) not in str(getattr(there, "__file__", "")):
        raise RuntimeError(
            "torch_py.as_torch.install: torch was imported before, from "
            f"{getattr(there, '__file__', None)!r}; install first"
        )

    sys.meta_path.insert(0, AliasFinder(SHADOW))
    # torch.torch is torch: importing from inside leaves that behind.
    vars(torch_py).setdefault(ALIAS, torch_py)

    version = TorchVersion(f"{COMPATIBLE_WITH}+torch.py.{torch_py.version.__version__}")
    torch_py.__version__ = torch_py.version.__version__ = version
    torch_py.Tensor.__module__ = ALIAS
    claim_native_names(torch_py._C)

    for name in [name for name in sys.modules if name.partition(".")[0] == "torch_py"]:
        module = sys.modules[name]
        add_alias(name, module)
        claim_names(module)

    if children:
        _tell_children()


def _tell_children() -> None:
    if str(SHADOW) not in sys.path:
        sys.path.insert(1, str(SHADOW))  # 0 is the program's own folder
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(SHADOW) not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(SHADOW), *filter(None, paths)])
