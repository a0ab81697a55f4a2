"""Settings of the generator of code for compiled programs, with PyTorch's defaults.

Programs set them, for one compiled function with ``torch.compile(options=...)``. The others of PyTorch's
settings, which programs may set as well, have no effect: the compiler decides by the loops that it finds
(`torch_py/_pytorch_names/compiler_settings.py`).

max_autotune, max_autotune_pointwise   nests are raced against the operators they replace (race.py)
autotune_local_cache                   results of races are kept on disk
force_disable_caches                   kernels are compiled and raced again
fx_graph_cache                         programs are kept on disk, by their graphs
fallback_by_default                    operators are called, one by one
max_fusion_size                        so many values one nest may store; more than 24 counts as 24
allow_buffer_reuse                     temporaries that are not alive together may share memory
emulate_precision_casts                values of 16 bits are rounded between operators, as in eager mode
pre_grad_custom_pass                   a function that changes the captured graph
joint_custom_pre_pass, joint_custom_post_pass
                                       functions that change the graph of forward and backward
post_grad_custom_pre_pass, post_grad_custom_post_pass
                                       functions that change each of the two graphs
cpp.cxx                                the compilers to try; None stands for CXX, or what is found
cpp.simdlen                            bits of a vector: 128, 256 or 512; 0 and 1 for none
cpp.threads                            how many threads run a kernel; -1 for those that operators use
cpp.enable_floating_point_contract_flag, cpp.enable_unsafe_math_opt_flag
                                       -ffp-contract and the parts of -funsafe-math-optimizations
trace.enabled, trace.debug_dir         a folder of files for each graph, and where it is
"""

import os
import sys

from torch_py._pytorch_names.compiler_settings import add_others as _add_others
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.utils._config_module import install_config_module

allow_buffer_reuse = True
autotune_local_cache = True
emulate_precision_casts = False
fallback_by_default = False
force_disable_caches = False
fx_graph_cache = True
joint_custom_pre_pass = None
joint_custom_post_pass = None
max_autotune = False
max_autotune_pointwise = False
max_fusion_size = 64
post_grad_custom_pre_pass = None
post_grad_custom_post_pass = None
pre_grad_custom_pass = None


class cpp:
    """Code for CPUs."""

    cxx = (None, "g++")
    enable_floating_point_contract_flag = "off"
    enable_unsafe_math_opt_flag = False
    simdlen = None
    threads = -1


class trace:
    """Files that describe a compilation."""

    debug_dir = None
    enabled = os.environ.get("TORCH_COMPILE_DEBUG", "0") == "1"


_add_others(globals())

__getattr__ = _lacking(__name__)
install_config_module(sys.modules[__name__])
