"""The Tensor object: construction, identity with its C++ tensor, attributes, subclasses, number protocol."""

from __future__ import annotations

import gc
import pickle
import sys
import weakref
from typing import Any

import pytest

from tests.subject import torch

# -- construction
# ------------------------------------------------------------


def test_legacy_constructor(torch: Any) -> None:
    assert torch.Tensor(2, 3).shape == (2, 3)
    assert torch.Tensor(torch.Size([2, 3])).shape == (2, 3)
    assert torch.Tensor([1, 2]).tolist() == [1.0, 2.0]
    assert torch.Tensor((2, 3)).tolist() == [2.0, 3.0]
    assert torch.Tensor().shape == (0,)
    source = torch.ones(3)
    alias = torch.Tensor(source)
    assert alias is not source and alias.data_ptr() == source.data_ptr()


@pytest.mark.parametrize("argument", ["a", 2.5, b"a", {1: 2}, object()])
def test_legacy_constructor_refuses(torch: Any, argument: object) -> None:
    with pytest.raises(TypeError):
        torch.Tensor(argument)


@pytest.mark.parametrize(
    ("data", "dtype", "values"),
    [
        (1, "int64", 1),
        (2.5, "float32", 2.5),
        (True, "bool", True),
        (1j, "complex64", 1j),
        ([1, 2.5, True], "float32", [1.0, 2.5, 1.0]),
        ([True, 1], "int64", [1, 1]),
        ([1, 2j], "complex64", [1 + 0j, 2j]),
        ([], "float32", []),
        ([[], []], "float32", [[], []]),
        (range(3), "int64", [0, 1, 2]),
        (((1, 2), [3, 4]), "int64", [[1, 2], [3, 4]]),
    ],
)
def test_tensor_infers_dtype_and_shape(torch: Any, data: Any, dtype: str, values: Any) -> None:
    tensor = torch.tensor(data)
    assert tensor.dtype is getattr(torch, dtype)
    assert tensor.tolist() == values


def test_tensor_of_tensors_and_explicit_dtype(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    assert torch.tensor([x[0], x[1]]).tolist() == [1.0, 2.0]
    assert torch.tensor([1.7, -1.7], dtype=torch.int32).tolist() == [1, -1]
    assert torch.tensor(-1, dtype=torch.uint8).item() == 255
    assert torch.tensor([1, 2], dtype=float).dtype is torch.float64
    assert torch.tensor(5, dtype=torch.bool).item() is True


@pytest.mark.parametrize(
    ("data", "options", "error"),
    [
        ([[1, 2], [3]], {}, ValueError),
        ("a", {}, TypeError),
        ([1, "a"], {}, TypeError),
        (None, {}, RuntimeError),
        ([None], {}, RuntimeError),
        ({1: 2}, {}, RuntimeError),
        (2**63, {}, ValueError),
        (300, {"dtype": "uint8"}, RuntimeError),
        (float("nan"), {"dtype": "int32"}, RuntimeError),
        (1j, {"dtype": "float32"}, TypeError),
        ([1], {"requires_grad": True}, RuntimeError),
    ],
)
def test_tensor_refuses(torch: Any, data: Any, options: dict[str, Any], error: type[Exception]) -> None:
    keywords = {key: getattr(torch, value) if key == "dtype" else value for key, value in options.items()}
    with pytest.raises(error):
        torch.tensor(data, **keywords)


def test_a_list_that_contains_itself_is_refused(torch: Any) -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises((ValueError, RuntimeError)):
        torch.tensor(loop)


# -- one Python object per tensor
# ------------------------------------------------------------


def test_results_that_are_the_same_tensor_are_the_same_object(torch: Any) -> None:
    x = torch.ones(3)
    assert x.add_(1) is x
    assert x.requires_grad_() is x
    assert x.to(torch.float32) is x
    assert x.float() is x


def test_attributes_survive_while_only_cpp_holds_the_tensor(torch: Any) -> None:
    leaf = torch.ones(2, requires_grad=True)
    leaf.grad = torch.zeros(2)
    leaf.grad.note = "kept"
    gc.collect()
    assert leaf.grad.note == "kept"
    assert leaf.grad is leaf.grad


def test_a_dead_tensor_gives_its_attributes_back(torch: Any) -> None:
    class Sentinel:
        pass

    sentinel = Sentinel()
    alive = weakref.ref(sentinel)
    leaf = torch.ones(2, requires_grad=True)
    leaf.grad = torch.zeros(2)
    leaf.grad.note = sentinel
    del sentinel
    gc.collect()
    assert alive() is not None
    leaf.grad = None
    gc.collect()
    assert alive() is None


def test_cycles_through_attributes_are_collected(torch: Any) -> None:
    x = torch.ones(2)
    x.me = [x]
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None


def test_cycles_through_cpp_wait_for_cpp(torch: Any) -> None:
    leaf = torch.ones(2, requires_grad=True)
    gradient = torch.zeros(2)
    gradient.me = [gradient]
    gradient.note = 5
    leaf.grad = gradient
    del gradient
    gc.collect()
    assert leaf.grad.note == 5 and leaf.grad.me[0] is leaf.grad


def test_weak_references(torch: Any) -> None:
    x = torch.ones(2)
    reference = weakref.ref(x)
    assert reference() is x
    del x
    assert reference() is None


def test_reference_counts_are_balanced(torch: Any) -> None:
    x = torch.ones(2)
    before = sys.getrefcount(x)
    for _ in range(1000):
        x.add_(1)
        _ = x[0], x + x, x.shape
        del _
        with pytest.raises(TypeError):
            x.add("a")
    assert sys.getrefcount(x) == before


def test_contexts_of_custom_functions_are_freed(torch: Any) -> None:
    contexts = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            contexts.append(weakref.ref(ctx))
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * 2

    x = torch.ones(2, requires_grad=True)
    y = Double.apply(x)
    assert contexts[0]() is y.grad_fn
    y.sum().backward()
    del y
    gc.collect()
    assert contexts[0]() is None and x.grad.tolist() == [2, 2]


# -- attributes
# ------------------------------------------------------------


def test_geometry(torch: Any) -> None:
    x = torch.zeros(2, 3, dtype=torch.int16)
    assert x.shape == (2, 3) and isinstance(x.shape, torch.Size) and x.shape.numel() == 6
    assert x.size() == (2, 3) and x.size(1) == 3 and x.size(-1) == 3
    assert x.stride() == (3, 1) and x.stride(0) == 3
    assert (x.dim(), x.ndim, x.numel(), x.nelement(), len(x)) == (2, 2, 6, 6, 2)
    assert (x.itemsize, x.element_size(), x.nbytes) == (2, 2, 12)
    assert x.T.shape == (3, 2) and x.T.stride() == (1, 3) and not x.T.is_contiguous()
    assert x.mT.shape == (3, 2)
    assert x.device == torch.device("cpu") and x.layout is torch.strided
    assert not x.is_floating_point() and not x.is_complex() and x.is_signed()


@pytest.mark.parametrize("name", ["shape", "dtype", "device", "ndim", "grad_fn", "is_leaf", "T"])
def test_read_only_attributes(torch: Any, name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(torch.ones(2), name, 1)


def test_requires_grad_rules(torch: Any) -> None:
    x = torch.ones(2)
    x.requires_grad = True
    assert x.requires_grad and x.is_leaf and x.grad_fn is None and x.grad is None
    y = x * 2
    assert y.requires_grad and not y.is_leaf and y.grad_fn.name() == "MulBackward0"
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad = False
    with pytest.raises(RuntimeError, match="floating point"):
        torch.arange(3).requires_grad = True
    with pytest.raises(RuntimeError, match="must be a bool"):
        x.requires_grad = "yes"


def test_grad_assignment_is_checked(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    gradient = torch.ones(2)
    x.grad = gradient
    assert x.grad is gradient

    message = "assigned grad expected to be a Tensor or None but got grad of type int"
    with pytest.raises(TypeError, match=message):
        x.grad = 1
    with pytest.raises(RuntimeError, match="attempting to assign a gradient of size"):
        x.grad = torch.ones(3)
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype"):
        x.grad = torch.ones(2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="can't assign Variable as its own grad"):
        x.grad = x

    assert x.grad is gradient
    del x.grad
    assert x.grad is None


def test_data(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    assert not x.data.requires_grad and x.data.data_ptr() == x.data_ptr()
    x.data = torch.zeros(3)
    assert x.tolist() == [0, 0, 0] and x.requires_grad
    with pytest.raises(TypeError, match="has to be a tensor"):
        x.data = 1


def test_complex_parts(torch: Any) -> None:
    z = torch.tensor([1 + 2j, 3 - 4j])
    assert z.real.tolist() == [1, 3] and z.imag.tolist() == [2, -4]
    z.imag = 0
    assert z.tolist() == [1, 3]
    x = torch.ones(2)
    assert x.real is x
    with pytest.raises(RuntimeError, match="imag is not implemented"):
        x.imag  # noqa: B018


def test_matrix_only_attributes(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="tensor.H is only supported on matrices"):
        torch.ones(2, 3, 4).H  # noqa: B018
    with pytest.raises(RuntimeError, match="tensor.mT is only supported on matrices"):
        torch.ones(3).mT  # noqa: B018


def test_views_know_their_base_and_version(torch: Any) -> None:
    x = torch.zeros(4)
    view = x[1:3]
    assert view._base is x and x._base is None and view._is_view() and not x._is_view()
    before = x._version
    view.add_(1)
    assert x._version == view._version == before + 1


# -- subclasses
# ------------------------------------------------------------


def test_subclass_instances_keep_class_and_state(torch: Any) -> None:
    class Marked(torch.Tensor):
        pass

    x = torch.ones(3).as_subclass(Marked)
    x.label = "a"
    assert type(x) is Marked and x.label == "a" and isinstance(x, torch.Tensor)
    y = x + 1
    assert type(y) is Marked and y.tolist() == [2, 2, 2]
    assert type(x[0]) is Marked


def test_subclass_with_slots_and_finalizer(torch: Any) -> None:
    seen = []

    class Slotted(torch.Tensor):
        __slots__ = ("extra",)

        def __del__(self) -> None:
            seen.append(self.shape)

    x = torch.ones(2, 3).as_subclass(Slotted)
    x.extra = object()
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None and seen == [(2, 3)]


def test_make_subclass(torch: Any) -> None:
    parameter = torch.Tensor._make_subclass(torch.nn.Parameter, torch.ones(2), True)
    assert isinstance(parameter, torch.nn.Parameter) and parameter.requires_grad
    for make in (
        lambda: torch.Tensor._make_subclass(int, torch.ones(2)),
        lambda: torch.ones(2).as_subclass(int),
    ):
        with pytest.raises(TypeError, match="does not inherit from Tensor"):
            make()


def test_torch_function_sees_calls(torch: Any) -> None:
    calls = []

    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            calls.append(getattr(func, "__name__", str(func)))
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.ones(2).as_subclass(Logged)
    calls.clear()
    torch.add(x, 1)
    torch.cat([torch.ones(2), x])
    assert "add" in calls and "cat" in calls


def test_torch_function_of_other_types(torch: Any) -> None:
    class Duck:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return "quack"

    class Shy:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    assert torch.add(Duck(), torch.ones(2)) == "quack"
    assert torch.ones(2).add(Duck()) == "quack"
    with pytest.raises(TypeError):
        torch.add(Shy(), torch.ones(2))


# -- numbers
# ------------------------------------------------------------


def test_arithmetic_with_numbers(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    assert (x + 1).tolist() == (1 + x).tolist() == [2, 3]
    assert (x - 1).tolist() == [0, 1] and (1 - x).tolist() == [0, -1]
    assert (2 * x).tolist() == [2, 4] and (2 / x).tolist() == [2, 1] and (x / 2).tolist() == [0.5, 1]
    assert (x**2).tolist() == [1, 4] and (2**x).tolist() == [2, 4]
    assert (-x).tolist() == [-1, -2] and abs(-x).tolist() == [1, 2]

    i = torch.tensor([5, 6])
    assert (i // 2).tolist() == [2, 3] and (i % 4).tolist() == [1, 2] and (7 // i).tolist() == [1, 1]
    assert (i & 4).tolist() == [4, 4]
    assert (i | 1).tolist() == [5, 7]
    assert (i ^ 1).tolist() == [4, 7]
    assert (~i).tolist() == [-6, -7]

    y = x
    y += 1
    assert y is x and x.tolist() == [2, 3]


def test_comparison(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    assert (x == 1).tolist() == [True, False] and (x != 1).tolist() == [False, True]
    assert (x < 2).tolist() == [True, False] and (x >= 2).tolist() == [False, True]
    assert (x == None) is False and (x == "a") is False  # noqa: E711
    with pytest.raises(TypeError, match="not supported between instances of 'Tensor' and 'str'"):
        x < "a"  # noqa: B015


@pytest.mark.parametrize("other", ["a", None, [1], {}, object()])
def test_arithmetic_refuses(torch: Any, other: object) -> None:
    with pytest.raises(TypeError, match="unsupported operand type"):
        torch.ones(2) + other


def test_conversion_to_python_numbers(torch: Any) -> None:
    assert int(torch.tensor(2.7)) == 2 and float(torch.tensor([3])) == 3.0 and complex(torch.tensor(1j)) == 1j
    assert bool(torch.tensor([1])) and not torch.tensor(0.0)
    assert [1, 2, 3][torch.tensor(1)] == 2
    assert torch.tensor(2.5).item() == 2.5 and torch.tensor([True]).item() is True

    for convert in (int, float, complex):
        with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
            convert(torch.ones(2))
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        bool(torch.ones(2))
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with no values is ambiguous"):
        bool(torch.ones(0))
    with pytest.raises(TypeError, match="can be converted to an index"):
        [1, 2][torch.tensor(1.0)]
    with pytest.raises(RuntimeError, match="a Tensor with 2 elements cannot be converted to Scalar"):
        torch.ones(2).item()


def test_meta_tensors_have_no_values(torch: Any) -> None:
    meta = torch.empty(1, device="meta")
    for read in (meta.tolist, lambda: meta.cpu().tolist()):
        with pytest.raises((NotImplementedError, RuntimeError)):
            read()


# -- dtypes, devices, sizes, generators
# ------------------------------------------------------------


def test_dtype_objects(torch: Any) -> None:
    assert repr(torch.float32) == "torch.float32"
    assert pickle.loads(pickle.dumps(torch.float32)) is torch.float32
    assert torch.float32.is_floating_point and torch.complex64.is_complex and torch.int8.itemsize == 1
    assert torch.float32.to_complex() is torch.complex64 and torch.complex128.to_real() is torch.float64
    assert torch.promote_types(torch.int8, torch.uint8) is torch.int16
    assert torch.result_type(torch.ones(2), 1) is torch.float32 and torch.result_type(1, 1.5) is torch.float32
    assert not torch.can_cast(torch.float32, torch.int32)


def test_device_objects(torch: Any) -> None:
    device = torch.device("cuda", 1)
    assert (device.type, device.index, str(device)) == ("cuda", 1, "cuda:1") and repr(
        device
    ) == "device(type='cuda', index=1)"
    assert torch.device("cpu") == torch.device("cpu") != device and hash(torch.device("cpu")) == hash(
        torch.device("cpu")
    )

    assert torch.device("cpu").index is None and pickle.loads(pickle.dumps(device)) == device

    for wrong in ("foo", "cuda:-1", "cuda:x", "cuda:01", ""):
        with pytest.raises(RuntimeError):
            torch.device(wrong)
    for call in (lambda: torch.device(), lambda: torch.device(None), lambda: torch.device(1.5)):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(RuntimeError, match="must not include an index"):
        torch.device("cuda:1", 1)


def test_size(torch: Any) -> None:
    size = torch.Size([2, 3])
    assert size == (2, 3)
    assert size.numel() == 6
    assert repr(size) == "torch.Size([2, 3])"
    assert hash(size) == hash((2, 3))

    for kept in (size + (4,), size[:1], size * 2):
        assert isinstance(kept, torch.Size)
    assert pickle.loads(pickle.dumps(size)) == size

    for wrong in ([1.5], "ab"):
        with pytest.raises(TypeError, match="takes an iterable of 'int'"):
            torch.Size(wrong)


def test_type_limits(torch: Any) -> None:
    info = torch.finfo(torch.float32)
    assert (info.bits, info.eps, info.dtype) == (32, 2.0**-23, "float32") and info.max == torch.tensor(
        info.max
    ).item()
    assert torch.finfo(torch.bfloat16).eps == 0.0078125
    assert (torch.iinfo(torch.int8).min, torch.iinfo(torch.uint8).max, torch.iinfo(torch.int64).max) == (
        -128,
        255,
        2**63 - 1,
    )

    with pytest.raises(TypeError):
        torch.finfo(torch.int32)
    with pytest.raises(TypeError):
        torch.iinfo(torch.float32)


def test_generator_state(torch: Any) -> None:
    generator = torch.Generator().manual_seed(5)
    state = generator.get_state()
    assert state.dtype is torch.uint8 and generator.initial_seed() == 5

    first = torch.rand(3, generator=generator)
    generator.set_state(state)
    assert torch.rand(3, generator=generator).tolist() == first.tolist()

    for wrong in (1, torch.ones(3)):
        with pytest.raises(TypeError):
            generator.set_state(wrong)
    with pytest.raises(RuntimeError):
        generator.set_state(torch.ones(3, dtype=torch.uint8))
    with pytest.raises(RuntimeError):
        generator.manual_seed("a")


def test_untyped_storage(torch: Any) -> None:
    x = torch.tensor([1, 2], dtype=torch.int16)
    storage = x.untyped_storage()
    assert storage.nbytes() == len(storage) == 4 and storage[0] == 1 and storage.data_ptr() == x.data_ptr()
    storage[0] = 7
    assert x[0].item() == 7
    with pytest.raises(IndexError):
        storage[100]
    y = torch.empty(0, dtype=torch.int16).set_(storage, 1, (1,), (1,))
    assert y.tolist() == [2]
    with pytest.raises(RuntimeError):
        torch.empty(0, dtype=torch.int16).set_(storage, 1, (-2,), (1,))


def test_hooks(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    seen = []
    handle = x.register_hook(lambda gradient: gradient * 2)
    x.register_post_accumulate_grad_hook(lambda tensor: seen.append(tensor.grad.tolist()))
    (x * 3).sum().backward()
    assert x.grad.tolist() == [6, 6] and seen == [[6, 6]]

    handle.remove()
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]

    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        torch.ones(2).register_hook(lambda gradient: None)


def test_exceptions_travel_through_backward_unchanged(torch: Any) -> None:
    class Special(Exception):
        pass

    error = Special("from a hook")

    def fail(gradient: Any) -> None:
        raise error

    x = torch.ones(2, requires_grad=True)
    x.register_hook(fail)
    with pytest.raises(Special) as caught:
        x.sum().backward()
    assert caught.value is error


def test_hash_is_identity(torch: Any) -> None:
    x = torch.ones(2)
    assert hash(x) == id(x)


@pytest.mark.parametrize(
    "make",
    ["zeros(2)", "eye(3)", "arange(4)", "rand(2)", "randperm(4)", "ones(2).clone()", "ones(2).double()"],
)
def test_new_tensors_are_unchanged(torch: Any, make: str) -> None:
    assert eval(f"torch.{make}", {"torch": torch})._version == 0


def test_copy_shares_memory():
    import copy

    tensor = torch.ones(3)
    tensor.note = [1]
    other = copy.copy(tensor)
    assert other is not tensor
    assert other.data_ptr() == tensor.data_ptr()
    assert other.note is tensor.note
    assert not other._is_view()
    parameter = torch.nn.Parameter(tensor)
    assert type(copy.copy(parameter)) is torch.nn.Parameter
    assert copy.copy(parameter).data_ptr() == parameter.data_ptr()
    assert copy.copy(parameter).requires_grad and copy.copy(parameter).grad is None


def test_small_methods():
    tensor = torch.arange(6.0).view(2, 3)
    assert tensor.is_same_size(torch.zeros(2, 3)) and not tensor.is_same_size(torch.zeros(3, 2))
    assert tensor.is_set_to(tensor[:])
    assert not tensor.is_set_to(tensor.clone())
    assert not tensor.is_set_to(tensor.t())
    assert tensor.dense_dim() == 2 and tensor.sparse_dim() == 0
    assert torch.ones(2).copy_(3).tolist() == [3, 3]


def test_apply_and_map():
    tensor = torch.ones(2, 2).t()
    assert tensor.apply_(lambda value: value + 1) is tensor and tensor.tolist() == [[2, 2], [2, 2]]
    assert tensor.map_(torch.tensor([1.0, 2.0]), lambda a, b: a * b).tolist() == [[2, 4], [2, 4]]
    assert torch.ones(2, dtype=torch.int32).apply_(lambda value: 2.5).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match=r"Can't call apply_\(\) on Variable that requires grad"):
        torch.ones(2, requires_grad=True).apply_(lambda value: value)
    with pytest.raises(TypeError, match="map_.*expected"):
        torch.ones(2).map_(torch.ones(2, dtype=torch.float64), lambda a, b: a)


def test_named_results_print_in_lines():
    shown = repr(torch.tensor([[1.0, 2.0]]).max(1))
    assert shown == "torch.return_types.max(\nvalues=tensor([2.]),\nindices=tensor([1]))"


def test_linalg_is_there():
    assert issubclass(torch.linalg.LinAlgError, RuntimeError)


class Recorded(torch.Tensor):
    calls: list[Any] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(getattr(func, "__name__", ""))
        return super().__torch_function__(func, types, args, kwargs or {})


@pytest.mark.parametrize(
    "use, name, expected",
    [
        (lambda t: t.shape, "__get__", (1,)),
        (lambda t: t.requires_grad, "__get__", False),
        (lambda t: t.is_leaf, "__get__", True),
        (lambda t: type(t.T), "__get__", Recorded),
        (len, "__len__", 1),
        (float, "__float__", 3.0),
        (int, "__int__", 3),
        (bool, "__bool__", True),
    ],
)
def test_properties_and_conversions_of_subclasses_are_overridable(use, name, expected):
    tensor = torch.tensor([3.0]).as_subclass(Recorded)
    Recorded.calls.clear()
    assert use(tensor) == expected
    assert name in Recorded.calls


def test_setting_a_property_of_a_subclass():
    tensor = torch.tensor([3.0]).as_subclass(Recorded)
    Recorded.calls.clear()
    tensor.requires_grad = True
    assert "__set__" in Recorded.calls and tensor.requires_grad


def test_indices_that_take_over():
    class Index:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "mine", func.__name__, len(args)

    tensor = torch.ones(3)
    assert tensor[Index()] == ("mine", "__getitem__", 2)
    assert tensor[0, Index()] == ("mine", "__getitem__", 2)


def test_result_type_of_subclasses():
    class Own(torch.Tensor):
        pass

    own = torch.ones(2).as_subclass(Own)
    assert torch.result_type(own, 1) is torch.float32
