"""The older place of marks for the compiler."""

from torch_py._dynamo.marks import allow_in_graph as allow_in_graph
from torch_py._dynamo.marks import disable as disable
from torch_py._dynamo.marks import disallow_in_graph as disallow_in_graph
from torch_py._dynamo.marks import forbid_in_graph as forbid_in_graph
from torch_py._dynamo.marks import graph_break as graph_break
from torch_py._dynamo.marks import mark_dynamic as mark_dynamic
from torch_py._dynamo.marks import mark_static as mark_static
from torch_py._dynamo.marks import mark_static_address as mark_static_address
from torch_py._dynamo.marks import maybe_mark_dynamic as maybe_mark_dynamic
from torch_py._dynamo.marks import substitute_in_graph as substitute_in_graph
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.compiler._stance import set_stance as set_stance

__all__ = [
    "allow_in_graph",
    "disable",
    "disallow_in_graph",
    "forbid_in_graph",
    "graph_break",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "set_stance",
    "substitute_in_graph",
]

__getattr__ = _lacking(__name__)
