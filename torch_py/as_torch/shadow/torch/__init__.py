"""The package `torch` that child processes of a program under
torch_py.as_torch import: installs torch_py in its place."""

import sys
from pathlib import Path

try:
    from torch_py.as_torch import install
except ModuleNotFoundError as error:  # a checkout, and the process runs in another folder
    if error.name != "torch_py":
        raise
    sys.path.append(str(Path(__file__).parents[4]))
    from torch_py.as_torch import install

install()
