"""Settings of the front end. Programs may set the others of PyTorch, which have no effect
(`torch_py/_pytorch_names/compiler_settings.py`).

recompile_limit      how many pieces of code a function may have; further calls run eagerly
fail_on_recompile_limit_hit   whether such calls raise FailOnRecompileLimitHit instead
assume_static_by_default   False: all sizes and integers vary from the start, as with `dynamic=True`
automatic_dynamic_shapes   False: only sizes that are marked vary, as with `dynamic=False`
force_parameter_static_shapes   False: sizes of parameters vary as those of other tensors do
specialize_int       whether integers of the program never vary
suppress_errors      whether a function runs eagerly, with a warning, where its compilation fails; None: only
                     where the compiler itself fails, and not a backend that does not come with it
rewrite_assert_with_torch_assert   True: assume that an `assert` on a tensor holds, and so does an `if` that
                     only raises, and check it after the graph; False: break the graph
disable              nothing is compiled from now on
error_on_recompile   code that is compiled anew is an error (RecompileError)
repro_after          "dynamo" or "aot": graphs that a compiler fails on are written as programs (repro/)
repro_level          1 to 4: what is written, and when
repro_tolerance      how far results may be from those of operators at level 4
repro_forward_only   whether gradients are left out there
"""

from __future__ import annotations

import os
import sys

from torch_py._pytorch_names.compiler_settings import add_others as _add_others
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.utils._config_module import install_config_module

assume_static_by_default = True
automatic_dynamic_shapes = True
cache_size_limit = recompile_limit = 8
accumulated_cache_size_limit = accumulated_recompile_limit = 256
error_on_recompile = False
fail_on_recompile_limit_hit = False
suppress_errors: bool | None = None
disable = False
force_parameter_static_shapes = True
repro_after = os.environ.get("TORCHDYNAMO_REPRO_AFTER") or None
repro_forward_only = os.environ.get("TORCHDYNAMO_REPRO_FORWARD_ONLY") == "1"
repro_level = int(os.environ.get("TORCHDYNAMO_REPRO_LEVEL", "2"))
repro_tolerance = 1e-3
rewrite_assert_with_torch_assert = True
specialize_int = False


_add_others(globals())

__getattr__ = _lacking(__name__)

install_config_module(sys.modules[__name__])
