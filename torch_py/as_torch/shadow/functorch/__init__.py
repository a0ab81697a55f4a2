"""The package `functorch`, which is part of PyTorch's distribution: older names of `torch.func`."""

import sys
from pathlib import Path

try:
    from torch_py.as_torch import install
except ModuleNotFoundError as error:  # a checkout, and the process runs in another folder
    if error.name != "torch_py":
        raise
    sys.path.append(str(Path(__file__).parents[4]))
    from torch_py.as_torch import install

install()

from torch_py._functorch.make_functional import FunctionalModule as FunctionalModule  # noqa: E402
from torch_py._functorch.make_functional import (  # noqa: E402
    FunctionalModuleWithBuffers as FunctionalModuleWithBuffers,
)
from torch_py._functorch.make_functional import (  # noqa: E402
    combine_state_for_ensemble as combine_state_for_ensemble,
)
from torch_py._functorch.make_functional import make_functional as make_functional  # noqa: E402
from torch_py._functorch.make_functional import (  # noqa: E402
    make_functional_with_buffers as make_functional_with_buffers,
)
from torch_py.func import grad as grad  # noqa: E402
from torch_py.func import grad_and_value as grad_and_value  # noqa: E402
from torch_py.func import hessian as hessian  # noqa: E402
from torch_py.func import jacfwd as jacfwd  # noqa: E402
from torch_py.func import jacrev as jacrev  # noqa: E402
from torch_py.func import jvp as jvp  # noqa: E402
from torch_py.func import vjp as vjp  # noqa: E402
from torch_py.func import vmap as vmap  # noqa: E402
from torch_py.fx.experimental.proxy_tensor import make_fx as make_fx  # noqa: E402
