"""Tests that run over every operator of native_functions.yaml.

How an operator gets its tests
------------------------------
Its entry in native_functions.yaml is enough. The generator writes the entry to
torch_py/_generated/operators.json, and the tests here are parametrized over that file:

    test_enrolment   the samples fit the schema; the functions and methods of the entry exist
    test_reference   every dtype of ``dtypes:`` equals the NumPy formula of ``expr:``, and PyTorch
    test_variants    function, method, in-place form and ``out=`` agree; views are views
    test_gradients   first and second derivatives equal finite differences, if the entry is differentiable
    test_transforms  forward mode agrees with reverse mode, and ``vmap`` with a loop
    test_meta        ``device='meta'`` gives the shape, dtype and strides that the CPU gives
    test_errors      error samples, arguments of wrong type, number or name, dtypes outside ``dtypes:``
    test_devices     tensors on several devices are refused
    test_unchanged   inputs stay as they are, threads do not change results, memory is freed

``python -m codegen explain OP`` lists the tests of one operator; ``make test ARGS='tests/ops -k softmax'``
runs them. With TEST_WITH=torch the same tests run against PyTorch: one that fails there expects something
that PyTorch does not do.

How to write samples
--------------------
``samples: NAME`` of the entry names a generator in a file of tests/ops/samples:

    @samples("softcap")
    def softcap(make: Make) -> Iterator[SampleInput]:
        yield SampleInput(make(2, 3), 1.5)                # softcap(tensor, 1.5)
        yield SampleInput(make(), cap=2.0)                # 0 dimensions, an argument by name
        yield SampleInput(make(0, 3), 1.5)                # no elements
        yield SampleInput(make(3, 4, layout="transposed"), 1.5)

``make(*shape)`` returns a tensor of the dtype under test. Its keyword arguments keep values away from points
without a derivative or make them distinct, and choose the memory layout (samples/make.py). Write the
decorator at the start of a line, where the generator looks for it.

Use an existing generator where one fits: ``unary_float``, ``unary_positive``, ``binary``, ``binary_nonzero``,
``reduction_dtype`` and others. A generator may serve several operators: each takes the samples that fit its
schema, so that ``alpha=`` reaches only operators with an ``alpha``. Where ``make.requires_grad`` is true,
yield few and small samples: numerical derivatives take two calls per element.

A second generator yields calls that must fail:

    @error_samples("softcap")
    def softcap_errors(make: Make) -> Iterator[ErrorInput]:
        # PyTorch's type of exception, and a regular expression for part of the message
        yield ErrorInput(SampleInput(make(2), 0.0), ValueError, "cap.*0")

Intended differences from PyTorch are listed in known_differences.py, with the reason.
"""
