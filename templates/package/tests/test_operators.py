"""All tests of all operators of the package: values, forms, layouts, gradients, transforms, the compiler."""

import {{ name }}
import {{ name }}.samples
from torch_py.testing.operators import OperatorTests


class TestOperators(OperatorTests):
    package = {{ name }}
