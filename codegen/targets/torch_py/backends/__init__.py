"""Devices outside the tree: a YAML file with ``backend: NAME`` gives kernels to existing operators.

backend: mydev
device:                       # functions in at::native::mydev: see docs/backends.md
  count: device_count
  allocate: allocate
  release: release
  copy: copy_bytes
dispatch:
  PrivateUse1:
    add.Tensor: add_kernel    # the operator, and the kernel in at::native::mydev
"""

from codegen.targets.torch_py.backends.emit import generate_backend
from codegen.targets.torch_py.backends.reading import Backend, read_backend

__all__ = ["Backend", "generate_backend", "read_backend"]
