"""Initial values of parameters.

Every function fills its argument in place, without recording gradients, and returns it.

For a weight (out, in, *kernel), `fan_in` is in * kernel elements and `fan_out` is out * kernel elements.
Sources: Glorot & Bengio 2010 (xavier), He et al. 2015 (kaiming), Saxe et al. 2013 (orthogonal).
"""

from __future__ import annotations

from torch_py._namespace import adopt as _adopt
from torch_py.nn.init import _constant, _gain, _older_names, _random, _scaled
from torch_py.nn.init._constant import *
from torch_py.nn.init._gain import *
from torch_py.nn.init._gain import _calculate_correct_fan, _calculate_fan_in_and_fan_out
from torch_py.nn.init._older_names import *
from torch_py.nn.init._random import *
from torch_py.nn.init._random import _no_grad_normal_, _no_grad_uniform_
from torch_py.nn.init._scaled import *

__all__ = [
    *_gain.__all__,
    *_constant.__all__,
    *_random.__all__,
    *_scaled.__all__,
    *_older_names.__all__,
]
_adopt(globals(), _gain, _constant, _random, _scaled, _older_names)
