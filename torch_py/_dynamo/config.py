"""Settings of the front end. These have an effect; the others are kept for programs that set them.

recompile_limit      how many pieces of code a function may have; further calls run eagerly
fail_on_recompile_limit_hit   whether such calls raise FailOnRecompileLimitHit instead
assume_static_by_default   False: all sizes and integers vary from the start, as with `dynamic=True`
automatic_dynamic_shapes   False: only sizes that are marked vary, as with `dynamic=False`
force_parameter_static_shapes   False: sizes of parameters vary as those of other tensors do
specialize_int       whether integers of the program never vary
suppress_errors      whether a function runs eagerly, with a warning, where its compilation fails; None: only
                     where the compiler itself fails, and not a backend that does not come with it
rewrite_assert_with_torch_assert   True: assume that an `assert` on a tensor holds, and check it after the
                     graph; False: break the graph
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
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.utils._config_module import install_config_module

allow_unspec_int_on_nn_module = False
assume_static_by_default = True
automatic_dynamic_shapes = True
cache_size_limit = recompile_limit = 8
accumulated_cache_size_limit = accumulated_recompile_limit = 256
capture_dynamic_output_shape_ops = False
capture_scalar_outputs = False
compiled_autograd = False
dynamic_shapes = True
error_on_recompile = False
fail_on_recompile_limit_hit = False
guard_nn_modules = True
inline_inbuilt_nn_modules = True
optimize_ddp: Any = True
suppress_errors: bool | None = None
verbose = False
base_dir = ""
caching_precompile = False
disable = False
error_on_nested_fx_trace = True
force_parameter_static_shapes = True
force_unspec_int_unbacked_size_like_on_torchrec_kjt = False
ignore_logger_methods: set[Any] = set()
reorderable_logging_functions: set[Any] = set()
repro_after = os.environ.get("TORCHDYNAMO_REPRO_AFTER") or None
repro_forward_only = os.environ.get("TORCHDYNAMO_REPRO_FORWARD_ONLY") == "1"
repro_level = int(os.environ.get("TORCHDYNAMO_REPRO_LEVEL", "2"))
repro_tolerance = 1e-3
rewrite_assert_with_torch_assert = True
skip_fwd_side_effects_in_bwd_under_checkpoint = False
skip_torchrec = True
specialize_int = False
track_nodes_for_deduplication = False
use_graph_deduplication = False


__getattr__ = _lacking(__name__)

install_config_module(sys.modules[__name__])
