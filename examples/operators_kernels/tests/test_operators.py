"""All tests of all operators of the package: values, forms, layouts, gradients, transforms, the compiler."""

import power_ops
import power_ops.samples

from torch_py.testing.operators import OperatorTests


class TestOperators(OperatorTests):
    package = power_ops
