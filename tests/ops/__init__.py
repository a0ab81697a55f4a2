"""Tests that every operator of native_functions.yaml is enrolled in.

How an operator gets enrolled
-----------------------------
By its entry; there is no list to add it to. The generator writes what the entry says to
torch_py/_generated/operators.json, and the tests here are parametrised over that file:

    test_enrolment   the entry has samples that fit its schema; its functions and methods exist
    test_reference   every dtype of ``dtypes:`` equals the formula of ``expr:`` in NumPy, and PyTorch where
    that is installed test_variants    function == method == in-place == ``out=``; views are views
    test_gradients   first and second derivatives against differences, where the entry is differentiable
    test_meta        ``device='meta'`` gives the shape, dtype and strides that the CPU gives
    test_errors      the error samples; wrong types, numbers and names of arguments; dtypes outside
    ``dtypes:`` test_unchanged   inputs stay as they are, threads do not matter, nothing leaks

``python -m codegen explain OP`` lists them for one operator; ``make test ARGS='tests/ops -k softmax'`` runs
them. With TEST_WITH=torch they run against PyTorch itself: a test or sample that fails there expects
something else than PyTorch does.

How to write samples
--------------------
``samples: NAME`` of the entry names a generator in a file of tests/ops/samples:

    @samples("softcap")
    def softcap(make: Make) -> Iterator[SampleInput]:
        yield SampleInput(make(2, 3), 1.5)                # softcap(tensor, 1.5)
        yield SampleInput(make(), cap=2.0)                # 0 dimensions, an argument by name
        yield SampleInput(make(0, 3), 1.5)                # no elements
        yield SampleInput(make(3, 4, layout="transposed"), 1.5)

``make(*shape)`` is a tensor in the dtype under test; it says how to keep values away from points without a
derivative, distinct from each other, in other memory layouts (samples/make.py). The decorator stands at the
start of a line. A generator may serve several operators: each takes those samples that fit its schema, so
that ``alpha=`` reaches only operators with an ``alpha``. Where
``make.requires_grad``, yield little: numerical derivatives take two calls per element. Choose an existing
generator where one fits:
``unary_float``, ``unary_positive``, ``binary``, ``binary_nonzero``, ``reduction_dtype``, ...

    @error_samples("softcap")
    def softcap_errors(make: Make) -> Iterator[ErrorInput]:
        yield ErrorInput(SampleInput(make(2), 0.0), ValueError, "cap.*0")    # PyTorch's type of exception;
        part of the message

What is known to differ from PyTorch on purpose stands in known_differences.py, with the reason.
"""
