"""The functions of `torch.cuda` about memory, under their other name."""

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.cuda import empty_cache as empty_cache
from torch_py.cuda import max_memory_allocated as max_memory_allocated
from torch_py.cuda import max_memory_reserved as max_memory_reserved
from torch_py.cuda import mem_get_info as mem_get_info
from torch_py.cuda import memory_allocated as memory_allocated
from torch_py.cuda import memory_reserved as memory_reserved
from torch_py.cuda import memory_stats as memory_stats
from torch_py.cuda import memory_summary as memory_summary
from torch_py.cuda import reset_peak_memory_stats as reset_peak_memory_stats

__getattr__ = _lacking(__name__)
