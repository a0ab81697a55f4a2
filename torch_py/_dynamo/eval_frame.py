"""Where programs look for the class of compiled modules."""

from torch_py.compiler._eager import OptimizedModule as OptimizedModule
