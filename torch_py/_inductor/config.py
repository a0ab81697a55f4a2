"""Settings of the generator of code for compiled programs, with PyTorch's defaults.

Programs set them, for one compiled function with ``torch.compile(options=...)``. These have an effect; the
compiler decides the rest by the loops that it finds, and the other names are kept for programs that set them.

max_autotune, max_autotune_pointwise   nests are raced against the operators they replace (race.py)
autotune_local_cache                   results of races are kept on disk
force_disable_caches                   kernels are compiled and raced again
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

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.utils._config_module import install_config_module

# What is generated.
cpp_wrapper = False
debug = False
fallback_random = False
freezing = False
freezing_discard_parameters = False
keep_output_stride = True
layout_optimization = True
shape_padding = True
split_reductions = True
unroll_reductions_threshold = 8
emulate_precision_casts = False
batch_invariant = False

# Checks in generated code.
assert_indirect_indexing = True
nan_asserts = False
scalar_asserts = True
size_asserts = True
alignment_asserts = True

# Which operations become one.
aggressive_fusion = False
benchmark_fusion = False
combo_kernels = False
conv_1x1_as_mm = False
epilogue_fusion = True
epilogue_fusion_first = False
force_fuse_int_mm_with_mul = False
group_fusion = False
max_fusion_size = 64
pattern_matcher = True
prologue_fusion = True
use_mixed_mm = True
fallback_by_default = False
selective_decompose = False
use_pre_grad_passes = True
use_joint_graph_passes = True
use_post_grad_passes = True
use_dce = True
b2b_gemm_pass = False
joint_custom_pre_pass = None
joint_custom_post_pass = None
post_grad_custom_pre_pass = None
post_grad_custom_post_pass = None
pre_grad_custom_pass = None
post_grad_fusion_options: dict[str, object] = {}
pre_grad_fusion_options: dict[str, object] = {}

# Memory, and the order of operations.
allow_buffer_reuse = True
dce = False
inplace_buffers = True
inplace_padding = True
memory_planning = False
memory_pool = "intermediates"
reorder_for_compute_comm_overlap = False
reorder_for_compute_comm_overlap_passes: list[object] = []
reorder_for_locality = True
reorder_for_peak_memory = True
_micro_pipeline_tp = False

# Choice of kernels by measurement.
autotune_fallback_to_aten = False
autotune_in_subproc = False
autotune_local_cache = True
benchmark_kernel = False
coordinate_descent_check_all_directions = False
coordinate_descent_search_radius = 1
coordinate_descent_tuning = False
max_autotune = False
max_autotune_conv_backends = "ATEN,TRITON"
max_autotune_gemm = False
max_autotune_gemm_backends = "ATEN,TRITON,CPP"
max_autotune_gemm_search_space = "DEFAULT"
max_autotune_pointwise = False

# Compiled code that is kept.
bundle_triton_into_fx_graph_cache = True
compile_threads = 1
force_disable_caches = False
fx_graph_cache = True
fx_graph_remote_cache = None
worker_start_method = "subprocess"


class aten_distributed_optimizations:
    """The order of collectives."""

    enable_overlap_scheduling = False


class eager_numerics:
    """Results that are those of eager operators to the last bit."""

    division_rounding = False
    disable_ftz = False


class cpp:
    """Code for CPUs."""

    cxx = (None, "g++")
    dynamic_threads = False
    enable_floating_point_contract_flag = "off"
    enable_kernel_profile = False
    enable_loop_tail_vec = True
    enable_unsafe_math_opt_flag = False
    fallback_scatter_reduce_sum = True
    max_horizontal_fusion_size = 16
    min_chunk_size = 512
    simdlen = None
    threads = -1
    weight_prepack = True
    vec_isa_ok = None


class triton:
    """Code for GPUs."""

    autotune_cublasLt = True
    autotune_pointwise = True
    cooperative_reductions = False
    cudagraph_dynamic_shape_warn_limit = 8
    cudagraph_skip_dynamic_graphs = False
    cudagraph_support_input_mutation = True
    cudagraph_trees = True
    cudagraph_trees_history_recording = False
    cudagraphs = False
    debug_sync_graph = False
    debug_sync_kernel = False
    dense_indexing = False
    descriptive_names = "original_aten"
    divisible_by_16 = True
    enable_persistent_tma_matmul = False
    max_tiles = None
    multi_kernel = 0
    persistent_reductions = True
    prefer_nd_tiling = False
    reorder_for_reducing_graph_partitions = True
    store_cubin = False
    tiling_prevents_pointwise_fusion = True
    tiling_prevents_reduction_fusion = True
    unique_kernel_names = True
    use_block_ptr = False


class aot_inductor:
    """Programs compiled ahead of time."""

    debug_compile = False
    output_path = ""
    package = False
    package_cpp_only = None
    use_runtime_constant_folding = False


class trace:
    """Files that describe a compilation."""

    debug_dir = None
    enabled = os.environ.get("TORCH_COMPILE_DEBUG", "0") == "1"
    fx_graph = True
    graph_diagram = False
    ir_post_fusion = True
    ir_pre_fusion = True
    output_code = True


__getattr__ = _lacking(__name__)
install_config_module(sys.modules[__name__])
