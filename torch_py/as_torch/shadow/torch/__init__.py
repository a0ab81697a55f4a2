"""What `import torch` finds first in a process started by a program under torch_py.as_torch: makes way for
torch_py."""

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
