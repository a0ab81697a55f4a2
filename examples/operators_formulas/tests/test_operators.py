"""All tests of all operators of the package: values, forms, layouts, gradients, transforms, the compiler."""

import smooth_ops
import smooth_ops.samples

from torch_py.testing.operators import OperatorTests


class TestOperators(OperatorTests):
    package = smooth_ops
