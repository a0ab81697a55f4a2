"""`torch.distributed.fsdp.fully_shard` and its policies, under their earlier name."""

from torch_py.distributed.fsdp._fully_shard import *
from torch_py.distributed.fsdp._fully_shard import __all__
