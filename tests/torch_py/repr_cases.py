"""Expressions over the library `T`, and the text that PyTorch 2.13 prints for each; used by test_repr.py."""

CASES = [
    ("T.tensor(1.5)", "tensor(1.5000)"),
    ("T.tensor(3)", "tensor(3)"),
    ("T.tensor(True)", "tensor(True)"),
    ("T.tensor(2.0)", "tensor(2.)"),
    ("T.tensor(1 + 2j)", "tensor(1.+2.j)"),
    ("T.tensor([])", "tensor([])"),
    ("T.tensor([], dtype=T.int64)", "tensor([], dtype=torch.int64)"),
    ("T.empty(0, 3)", "tensor([], size=(0, 3))"),
    ("T.empty(2, 0, dtype=T.float64)", "tensor([], size=(2, 0), dtype=torch.float64)"),
    ("T.tensor([1.0, 2.0, 3.0])", "tensor([1., 2., 3.])"),
    ("T.tensor([1.5, -2.25, 1000.0])", "tensor([   1.5000,   -2.2500, 1000.0000])"),
    ("T.tensor([0.0, 0.0])", "tensor([0., 0.])"),
    ("T.tensor([0.0, -0.0, 1.0])", "tensor([0., -0., 1.])"),
    ("T.tensor([1e-5, 1.0])", "tensor([1.0000e-05, 1.0000e+00])"),
    ("T.tensor([1e-5, 1e5])", "tensor([1.0000e-05, 1.0000e+05])"),
    ("T.tensor([1e-10])", "tensor([1.0000e-10])"),
    ("T.tensor([1e10])", "tensor([1.0000e+10])"),
    ("T.tensor([123456789.0])", "tensor([1.2346e+08])"),
    ("T.tensor([99999999.0, 1e8])", "tensor([100000000., 100000000.])"),
    ("T.tensor([1.0, 100000.0])", "tensor([1.0000e+00, 1.0000e+05])"),
    ("T.tensor([0.5, 500.0])", "tensor([  0.5000, 500.0000])"),
    ("T.tensor([0.5, 501.0])", "tensor([5.0000e-01, 5.0100e+02])"),
    ('T.tensor([float("inf"), float("nan"), 1.0])', "tensor([inf, nan, 1.])"),
    ('T.tensor([float("inf"), float("-inf")])', "tensor([inf, -inf])"),
    ('T.tensor([float("nan"), 0.0])', "tensor([nan, 0.])"),
    ('T.tensor([float("nan"), 1.5, -2.0])', "tensor([    nan,  1.5000, -2.0000])"),
    ('T.tensor([float("inf"), 1e-7])', "tensor([       inf, 1.0000e-07])"),
    ("T.tensor([1, 20, -300])", "tensor([   1,   20, -300])"),
    ("T.tensor([True, False])", "tensor([ True, False])"),
    ("T.tensor([1, 2], dtype=T.uint8)", "tensor([1, 2], dtype=torch.uint8)"),
    ("T.tensor([1.5, 2.5], dtype=T.float16)", "tensor([1.5000, 2.5000], dtype=torch.float16)"),
    ("T.tensor([1.5, 0.1], dtype=T.bfloat16)", "tensor([1.5000, 0.1001], dtype=torch.bfloat16)"),
    ("T.tensor([1.5, 2.5], dtype=T.float64)", "tensor([1.5000, 2.5000], dtype=torch.float64)"),
    ("T.tensor([1 + 2j, -3.5 - 4j])", "tensor([ 1.0000+2.j, -3.5000-4.j])"),
    ("T.tensor([1 + 2j, 3 - 4j], dtype=T.complex128)", "tensor([1.+2.j, 3.-4.j], dtype=torch.complex128)"),
    ("T.tensor([1e-6 + 2e6j, 3 - 4j])", "tensor([1.0000e-06+2.0000e+06j, 3.0000e+00-4.0000e+00j])"),
    ("T.tensor([[1.0, 2.0], [3.0, 4.5]])", "tensor([[1.0000, 2.0000],\n        [3.0000, 4.5000]])"),
    ("T.tensor([[1, 2, 3], [10, 20, 30]])", "tensor([[ 1,  2,  3],\n        [10, 20, 30]])"),
    (
        "T.arange(24).reshape(2, 3, 4)",
        "tensor([[[ 0,  1,  2,  3],\n"
        "         [ 4,  5,  6,  7],\n"
        "         [ 8,  9, 10, 11]],\n"
        "\n"
        "        [[12, 13, 14, 15],\n"
        "         [16, 17, 18, 19],\n"
        "         [20, 21, 22, 23]]])",
    ),
    (
        "T.arange(16.0).reshape(2, 2, 2, 2)",
        "tensor([[[[ 0.,  1.],\n"
        "          [ 2.,  3.]],\n"
        "\n"
        "         [[ 4.,  5.],\n"
        "          [ 6.,  7.]]],\n"
        "\n"
        "\n"
        "        [[[ 8.,  9.],\n"
        "          [10., 11.]],\n"
        "\n"
        "         [[12., 13.],\n"
        "          [14., 15.]]]])",
    ),
    (
        "T.arange(40)",
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
        "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,\n"
        "        36, 37, 38, 39])",
    ),
    (
        "T.arange(40) / 7",
        "tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429,\n"
        "        1.2857, 1.4286, 1.5714, 1.7143, 1.8571, 2.0000, 2.1429, 2.2857, 2.4286,\n"
        "        2.5714, 2.7143, 2.8571, 3.0000, 3.1429, 3.2857, 3.4286, 3.5714, 3.7143,\n"
        "        3.8571, 4.0000, 4.1429, 4.2857, 4.4286, 4.5714, 4.7143, 4.8571, 5.0000,\n"
        "        5.1429, 5.2857, 5.4286, 5.5714])",
    ),
    ("T.arange(1001)", "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    ("T.arange(1001.0)", "tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.])"),
    (
        "T.arange(10000).reshape(100, 100)",
        "tensor([[   0,    1,    2,  ...,   97,   98,   99],\n"
        "        [ 100,  101,  102,  ...,  197,  198,  199],\n"
        "        [ 200,  201,  202,  ...,  297,  298,  299],\n"
        "        ...,\n"
        "        [9700, 9701, 9702,  ..., 9797, 9798, 9799],\n"
        "        [9800, 9801, 9802,  ..., 9897, 9898, 9899],\n"
        "        [9900, 9901, 9902,  ..., 9997, 9998, 9999]])",
    ),
    (
        "T.arange(2000.0).reshape(1000, 2)",
        "tensor([[0.0000e+00, 1.0000e+00],\n"
        "        [2.0000e+00, 3.0000e+00],\n"
        "        [4.0000e+00, 5.0000e+00],\n"
        "        ...,\n"
        "        [1.9940e+03, 1.9950e+03],\n"
        "        [1.9960e+03, 1.9970e+03],\n"
        "        [1.9980e+03, 1.9990e+03]])",
    ),
    (
        "T.arange(3000).reshape(2, 1500)",
        "tensor([[   0,    1,    2,  ..., 1497, 1498, 1499],\n"
        "        [1500, 1501, 1502,  ..., 2997, 2998, 2999]])",
    ),
    (
        "T.zeros(7, 200)",
        "tensor([[0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        ...,\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.]])",
    ),
    ("T.ones(2, requires_grad=True)", "tensor([1., 1.], requires_grad=True)"),
    ("T.ones(2, requires_grad=True) + 1", "tensor([2., 2.], grad_fn=<AddBackward0>)"),
    (
        "T.ones(2, dtype=T.float64, requires_grad=True).exp()",
        "tensor([2.7183, 2.7183], dtype=torch.float64, grad_fn=<ExpBackward0>)",
    ),
    ("T.ones(3, 3, requires_grad=True)[0]", "tensor([1., 1., 1.], grad_fn=<SelectBackward0>)"),
    (
        "T.arange(15.0).requires_grad_() * 1.5",
        "tensor([ 0.0000,  1.5000,  3.0000,  4.5000,  6.0000,  7.5000,  9.0000, 10.5000,\n"
        "        12.0000, 13.5000, 15.0000, 16.5000, 18.0000, 19.5000, 21.0000],\n"
        "       grad_fn=<MulBackward0>)",
    ),
    ('T.empty(2, 3, device="meta")', "tensor(..., device='meta', size=(2, 3))"),
    ('T.empty(3, device="meta", dtype=T.int64)', "tensor(..., device='meta', size=(3,), dtype=torch.int64)"),
    ("T.nn.Parameter(T.ones(2))", "Parameter containing:\ntensor([1., 1.], requires_grad=True)"),
    (
        "T.nn.Parameter(T.ones(2, dtype=T.float64), requires_grad=False)",
        "Parameter containing:\ntensor([1., 1.], dtype=torch.float64)",
    ),
    ("T.full((3,), -1.0)", "tensor([-1., -1., -1.])"),
    ("T.tensor([[0.1, -0.2], [30.0, 4.0]])", "tensor([[ 0.1000, -0.2000],\n        [30.0000,  4.0000]])"),
    (
        "T.tensor([1 / 3] * 12)",
        "tensor([0.3333, 0.3333, 0.3333, 0.3333, 0.3333, 0.3333, 0.3333, 0.3333, 0.3333,\n"
        "        0.3333, 0.3333, 0.3333])",
    ),
    (
        "T.tensor([[True, False, True]] * 2)",
        "tensor([[ True, False,  True],\n        [ True, False,  True]])",
    ),
    ("T.tensor([255, 0], dtype=T.int16)", "tensor([255,   0], dtype=torch.int16)"),
    ("T.tensor([-1e-20, 1.0])", "tensor([-1.0000e-20,  1.0000e+00])"),
    (
        "T.linspace(0, 1, 25)",
        "tensor([0.0000, 0.0417, 0.0833, 0.1250, 0.1667, 0.2083, 0.2500, 0.2917, 0.3333,\n"
        "        0.3750, 0.4167, 0.4583, 0.5000, 0.5417, 0.5833, 0.6250, 0.6667, 0.7083,\n"
        "        0.7500, 0.7917, 0.8333, 0.8750, 0.9167, 0.9583, 1.0000])",
    ),
    (
        "T.ones(3, 4).t()",
        "tensor([[1., 1., 1.],\n        [1., 1., 1.],\n        [1., 1., 1.],\n        [1., 1., 1.]])",
    ),
    ('T.tensor(float("nan"))', "tensor(nan)"),
    ('T.tensor(float("-inf"))', "tensor(-inf)"),
    ("T.tensor(1e-9)", "tensor(1.0000e-09)"),
    ("T.tensor(123456.789)", "tensor(123456.7891)"),
    ("T.tensor([2**40, 1])", "tensor([1099511627776,             1])"),
    (
        "T.full((30,), 1 + 1j)",
        "tensor([1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j,\n"
        "        1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j,\n"
        "        1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j, 1.+1.j])",
    ),
]

WITH_OPTIONS = [
    (dict(precision=2), "T.tensor([1 / 3, 2.0])", "tensor([0.33, 2.00])"),
    (
        dict(precision=8),
        "T.tensor([1 / 3, 2.0], dtype=T.float64)",
        "tensor([0.33333333, 2.00000000], dtype=torch.float64)",
    ),
    (dict(sci_mode=True), "T.tensor([1.5, 2.0])", "tensor([1.5000e+00, 2.0000e+00])"),
    (dict(sci_mode=False), "T.tensor([1e-5, 1e5])", "tensor([     0.0000, 100000.0000])"),
    (dict(sci_mode=False), "T.tensor([1e-5])", "tensor([0.0000])"),
    (dict(sci_mode=True), "T.tensor([1.0, 20.0])", "tensor([1.0000e+00, 2.0000e+01])"),
    (dict(threshold=5), "T.arange(10)", "tensor([0, 1, 2,  ..., 7, 8, 9])"),
    (dict(threshold=5, edgeitems=2), "T.arange(10.0)", "tensor([0., 1.,  ..., 8., 9.])"),
    (
        dict(threshold=5, edgeitems=1),
        "T.arange(27).reshape(3, 3, 3)",
        "tensor([[[ 0,  ...,  2],\n"
        "         ...,\n"
        "         [ 6,  ...,  8]],\n"
        "\n"
        "        ...,\n"
        "\n"
        "        [[18,  ..., 20],\n"
        "         ...,\n"
        "         [24,  ..., 26]]])",
    ),
    (
        dict(linewidth=40),
        "T.arange(30)",
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,\n"
        "         8,  9, 10, 11, 12, 13, 14, 15,\n"
        "        16, 17, 18, 19, 20, 21, 22, 23,\n"
        "        24, 25, 26, 27, 28, 29])",
    ),
    (
        dict(linewidth=40),
        "T.ones(4, dtype=T.float64, requires_grad=True).exp()",
        "tensor([2.7183, 2.7183, 2.7183, 2.7183],\n"
        "       dtype=torch.float64,\n"
        "       grad_fn=<ExpBackward0>)",
    ),
    (dict(profile="short"), "T.tensor([1.23456, 2.0])", "tensor([1.23, 2.00])"),
    (
        dict(edgeitems=5),
        "T.arange(2000)",
        "tensor([   0,    1,    2,    3,    4,  ..., 1995, 1996, 1997, 1998, 1999])",
    ),
    (
        dict(linewidth=20),
        "T.tensor([1.5 + 2j] * 4)",
        "tensor([1.5000+2.j,\n        1.5000+2.j,\n        1.5000+2.j,\n        1.5000+2.j])",
    ),
]
