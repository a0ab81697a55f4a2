"""Types for annotations of programs that would be compiled."""

from __future__ import annotations

from typing import Any
from typing import Dict as Dict  # noqa: UP035
from typing import Final as Final
from typing import List as List  # noqa: UP035
from typing import Optional as Optional
from typing import Tuple as Tuple  # noqa: UP035

from torch_py._pytorch_names.packages import lacking as _lacking


class BroadcastingListCls:
    """`BroadcastingList2[int]`: a number, or a list of two."""

    def __getitem__(self, types: Any) -> None:
        return None


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = BroadcastingList4 = BroadcastingList5 = (
    BroadcastingList6
) = BroadcastingListCls()


__getattr__ = _lacking(__name__)
