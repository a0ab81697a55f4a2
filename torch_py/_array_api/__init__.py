"""The namespace of the Python array API standard, 2024.12 (https://data-apis.org/array-api/2024.12), over
tensors.

`x.__array_namespace__()` returns this module. Its functions have the standard's names and parameters and
follow its rules where they differ from `torch`: tensors of no dimension take part in type promotion like all
others, `std` and `var` divide by the number of elements, and so on. dtypes are those of `torch`; unsigned
integers of more than 8 bits are missing where this build has none.
"""

from __future__ import annotations

import math as _math

from torch_py._array_api import fft as fft
from torch_py._array_api import linalg as linalg
from torch_py._array_api._creation import *
from torch_py._array_api._dtypes import *
from torch_py._array_api._dtypes import dtypes_of as _dtypes_of
from torch_py._array_api._info import __array_namespace_info__ as __array_namespace_info__
from torch_py._array_api._manipulation import *
from torch_py._array_api._pointwise import *
from torch_py._array_api._products import *
from torch_py._array_api._reductions import *
from torch_py._array_api._searching import *

__array_api_version__ = "2024.12"

e = _math.e
inf = _math.inf
nan = _math.nan
pi = _math.pi
newaxis = None

globals().update(_dtypes_of("all"))
