"""The parts of a DataLoader: fetching, collating, worker processes."""

from torch_py.utils.data._utils import collate as collate
from torch_py.utils.data._utils import fetch as fetch
from torch_py.utils.data._utils import pin_memory as pin_memory
from torch_py.utils.data._utils import worker as worker
from torch_py.utils.data._utils.worker import MP_STATUS_CHECK_INTERVAL as MP_STATUS_CHECK_INTERVAL
from torch_py.utils.data._utils.worker import ExceptionWrapper as ExceptionWrapper
