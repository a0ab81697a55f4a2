"""Windows by which a piece of a signal is weighted before its spectrum is taken; definitions as in
`scipy.signal.windows`.

Each gives a 1-d tensor of `M` numbers, float32 or float64. With `sym=False` it is periodic, as spectra want
it: the first `M` of the symmetric window of `M + 1`. Without elements for `M = 0`; a single one is 1.
"""

from torch_py.signal.windows._windows import (
    bartlett,
    blackman,
    cosine,
    exponential,
    gaussian,
    general_cosine,
    general_hamming,
    hamming,
    hann,
    kaiser,
    nuttall,
)

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]
