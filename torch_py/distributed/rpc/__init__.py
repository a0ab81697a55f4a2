"""Calls between processes: `is_available()` is False, and everything else raises NotImplementedError."""

from __future__ import annotations

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.distributed._world import absent

__all__ = ["get_worker_info", "init_rpc", "is_available", "remote", "rpc_async", "rpc_sync", "shutdown"]


def is_available() -> bool:
    return False


get_worker_info = absent("rpc.get_worker_info")
init_rpc = absent("rpc.init_rpc")
remote = absent("rpc.remote")
rpc_async = absent("rpc.rpc_async")
rpc_sync = absent("rpc.rpc_sync")
shutdown = absent("rpc.shutdown")

__getattr__ = _lacking(__name__, __path__)
