"""What passes are made of: matching, comparison and fusion of subgraphs."""

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.fx.passes.utils.common import HolderModule, compare_graphs, lift_subgraph_as_module

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]

__getattr__ = _lacking(__name__, __path__)
