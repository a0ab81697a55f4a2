"""Graphs: work that is captured once and replayed as a whole."""

from __future__ import annotations

import gc
import importlib
from typing import Any

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.cuda._init import _lazy_init
from torch_py.cuda._load import reason as _reason
from torch_py.cuda.streams import Stream, StreamContext

__all__ = ["CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing", "make_graphed_callables"]


def is_current_stream_capturing() -> bool:
    """Whether the work of the current stream is being captured; False without CUDA."""
    if _reason():
        return False
    return bool(_C._cuda_isCurrentStreamCapturing())


def graph_pool_handle() -> tuple[int, int]:
    """A name for memory that several graphs share: the `pool` of `graph` and `CUDAGraph.capture_begin`."""
    _lazy_init()
    return _C._graph_pool_handle()


class CUDAGraph(_C._CUDAGraph):
    """Captured work of a stream. Tensors of the capture keep their addresses: fill the inputs, replay, read
    the outputs.

    Args:
        keep_graph: keeps the captured work for `raw_cuda_graph`; `instantiate` then makes it ready, or the
            first `replay`.
    """

    def __new__(cls, keep_graph: bool = False) -> CUDAGraph:
        why = _reason()
        if why:
            raise RuntimeError(f"torch.cuda.CUDAGraph: {why}")
        _lazy_init()
        return super().__new__(cls, keep_graph)

    def capture_begin(self, pool: tuple[int, int] | None = None, capture_error_mode: str = "global") -> None:
        """Begins to capture the current stream, which must not be the default one.

        Args:
            pool: where memory comes from: `graph_pool_handle()` or `other_graph.pool()`; by default a new
                pool.
            capture_error_mode: which calls that may synchronise are refused meanwhile: "global" for all
                threads, "thread_local" for this one, "relaxed" for none.
        """
        self._begin((0, 0) if pool is None else tuple(pool), capture_error_mode)


class graph:
    """A block whose work is captured into a graph, in a stream of its own.

    Args:
        cuda_graph: the graph.
        pool: where memory comes from, as in `CUDAGraph.capture_begin`.
        stream: the stream to capture; by default one that all captures of the process share.
        capture_error_mode: as in `CUDAGraph.capture_begin`.
        enable_annotations, check_input_liveness: must be False; torch_py has neither.
    """

    default_capture_stream: Stream | None = None

    def __init__(
        self,
        cuda_graph: CUDAGraph,
        pool: tuple[int, int] | None = None,
        stream: Any = None,
        capture_error_mode: str = "global",
        enable_annotations: bool = False,
        check_input_liveness: bool = False,
    ) -> None:
        if enable_annotations or check_input_liveness:
            raise NotImplementedError(
                "torch.cuda.graph: torch_py has no annotations of captured work and no check of inputs"
            )
        if stream is None:
            if graph.default_capture_stream is None:
                graph.default_capture_stream = Stream()
            stream = graph.default_capture_stream

        self.cuda_graph = cuda_graph
        self.pool = pool
        self.capture_stream = stream
        self.stream_ctx = StreamContext(stream)
        self.capture_error_mode = capture_error_mode

    def __enter__(self) -> None:
        # Freed tensors must not be collected, and memory must not be given up, during the capture.
        _C._cuda_synchronize()
        gc.collect()
        _C._cuda_emptyCache()

        self.stream_ctx.__enter__()
        try:
            self.cuda_graph.capture_begin(self.pool, self.capture_error_mode)
        except BaseException:
            self.stream_ctx.__exit__()
            raise

    def __exit__(self, *exception: object) -> None:
        try:
            self.cuda_graph.capture_end()
        finally:
            self.stream_ctx.__exit__(*exception)


def make_graphed_callables(
    callables: Any,
    sample_args: Any,
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: tuple[int, int] | None = None,
) -> Any:
    """Versions of functions or modules whose forward and backward are replayed as graphs.

    Args:
        callables: a function or a module, or a tuple of them in the order in which they will run.
        sample_args: a tuple of tensors with the shapes, dtypes and `requires_grad` of later calls; for a
            tuple of callables a tuple of such tuples.
        num_warmup_iters: how often each runs before it is captured.
        allow_unused_input: whether inputs may have no gradient.
        pool: where the graphs' memory comes from; by default a pool that they share.

    Returns the module itself, with another `forward`, or a new function; a tuple for a tuple. Raises
    RuntimeError inside of autocast with its cache.
    """
    # Imported here: it needs networks and functions with gradients, which need this package.
    graphed = importlib.import_module("torch_py.cuda._graphed")
    return graphed.make(callables, sample_args, num_warmup_iters, allow_unused_input, pool)


__getattr__ = _lacking(__name__)
