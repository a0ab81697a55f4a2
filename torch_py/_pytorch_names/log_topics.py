"""Topics of PyTorch's logs that `torch_py._logging` accepts and that print nothing."""

from __future__ import annotations

OTHER_TOPICS = frozenset(
    """
    all annotation aot aot_graphs_effects async_compile auto_chunker autograd benchmarking bytecode c10d
    caching compiled_autograd compiled_autograd_verbose compute_dependencies cudagraph_static_inputs
    cudagraphs ddp ddp_graphs distributed dtensor export fake_tensor fsdp fusion graph_code_verbose
    graph_region_expansion graph_sizes hierarchical_compile incremental inductor_metrics loop_ordering
    loop_tiling native_dsl node_runtime_estimation not_implemented onnx onnx_diagnostics overlap
    overlap_scheduling perf_hints post_grad_graphs pp pre_grad_graphs recompiles_verbose schedule
    side_effects sym_node torch trace_bytecode trace_call trace_shape_events trace_source verbose_guards
    """.split()
)
