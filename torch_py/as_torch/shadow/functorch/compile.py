"""Ahead-of-time autograd, under the name that PyTorch documents."""

from torch_py._functorch.aot import aot_function as aot_function
from torch_py._functorch.aot import aot_module as aot_module
from torch_py._functorch.aot import aot_module_simplified as aot_module_simplified
from torch_py._functorch.aot import default_partition as default_partition
from torch_py._functorch.aot import min_cut_rematerialization_partition as min_cut_rematerialization_partition
from torch_py._functorch.compilers import make_boxed_compiler as make_boxed_compiler
from torch_py._functorch.compilers import make_boxed_func as make_boxed_func
from torch_py._functorch.compilers import memory_efficient_fusion as memory_efficient_fusion
from torch_py._functorch.compilers import nop as nop
from torch_py._functorch.compilers import print_compile as print_compile

compiled_function = aot_function
compiled_module = aot_module
