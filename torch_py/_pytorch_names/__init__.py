"""The wing for what PyTorch has and torch_py does not: modules, layouts, dtypes and functions that programs
name.

`import torch_py.xpu` works without a file of that name. table.py lists every such module in one place, with
its names and the effect of using them. Rows are either made of the pieces in kinds.py, or name a file of
modules/ where a module needs code of its own. The other files here hold names that are not modules: members
of `torch`, `torch.Tensor` and `torch._C`.

finder.py makes the rows importable. It adds an entry to `torch_py.__path__` and a hook for that entry to
`sys.path_hooks`, so the modules are found as files are: by `import`, `importlib`, `pickle`, `pkgutil` and
`torch_py.as_torch`. The table is read when the first of them is asked for.
"""

from torch_py._pytorch_names.finder import extend as extend
from torch_py._pytorch_names.finder import install as install
from torch_py._pytorch_names.finder import names_in as names_in
