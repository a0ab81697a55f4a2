"""Constructors of the data packages with good and bad arguments: results and exceptions are PyTorch's."""

from __future__ import annotations

import array  # noqa: F401 (in the tables)
import collections
import importlib
import types  # noqa: F401
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy
import pytest

from tests.subject import only_torch_py, torch

Pair = collections.namedtuple("Pair", "a b")


class Table(Mapping):  # type: ignore[type-arg]
    def __init__(self, items: Any = None) -> None:
        self.items_ = items or {"a": 1}

    def __getitem__(self, key: Any) -> Any:
        return self.items_[key]

    def __len__(self) -> int:
        return len(self.items_)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items_)


class Fixed(Table):
    """Cannot be made of other items."""

    def __init__(self) -> None:
        super().__init__()


class Row(Sequence):  # type: ignore[type-arg]
    def __init__(self, items: Any = (1, 2)) -> None:
        self.items_ = list(items)

    def __getitem__(self, index: Any) -> Any:
        return self.items_[index]

    def __len__(self) -> int:
        return len(self.items_)


class Lines(list):  # type: ignore[type-arg]
    pass


class Named(dict):  # type: ignore[type-arg]
    pass


def stream(D: Any) -> Any:
    class Stream(D.IterableDataset):
        def __iter__(self) -> Iterator[int]:
            return iter(range(5))

        def __len__(self) -> int:
            return 5

    return Stream()


# t: the library, D: its utils.data, M: its multiprocessing.
DATA = """
D.DataLoader([1,2],batch_size=-1)
D.DataLoader([1,2],batch_size="a")
D.DataLoader([1,2],batch_size=2.0)
D.DataLoader([1,2],batch_size=t.tensor(2))
D.DataLoader([1,2],batch_size=numpy.int64(2))
D.DataLoader(3)
list(D.DataLoader(3))
D.DataLoader(None,shuffle=True)
D.DataLoader([],shuffle=True)
D.DataLoader([])
list(D.DataLoader([]))
D.DataLoader([1],shuffle="a")
D.DataLoader([1],sampler=3)
list(D.DataLoader([1],sampler=3))
list(D.DataLoader([1],sampler=[5]))
D.DataLoader([1],collate_fn=3)
list(D.DataLoader([1],collate_fn=3))
D.DataLoader([1],num_workers=1.5)
D.DataLoader([1],num_workers=None)
D.DataLoader([1],num_workers=True)
D.DataLoader([1],timeout=None)
D.DataLoader([1],timeout=1)
list(D.DataLoader([1],timeout=1))
D.DataLoader([1],generator=3)
list(D.DataLoader([1],generator=3))
list(D.DataLoader([1],generator=3,shuffle=True))
list(D.DataLoader([1],generator="a"))
D.DataLoader([1],worker_init_fn=3)
D.DataLoader([1],prefetch_factor=0)
D.DataLoader([1],prefetch_factor=-1)
D.DataLoader([1],pin_memory="x")
D.DataLoader([1],pin_memory_device="cuda")
D.DataLoader([1],pin_memory=True,pin_memory_device="cuda")
list(D.DataLoader([1],pin_memory=True))
D.DataLoader([1],foo=3)
D.DataLoader()
D.DataLoader([1],1,False,None,None,0,None,False,False,0,None,None,None,2)
D.DataLoader(stream(D),shuffle=True)
D.DataLoader(stream(D),shuffle=False)
D.DataLoader(stream(D),sampler=[1])
D.DataLoader(stream(D),batch_sampler=[1])
list(D.DataLoader(stream(D),batch_size=2))
len(D.DataLoader(stream(D),batch_size=2))
D.DataLoader(stream(D),batch_size=None,drop_last=True)
list(D.DataLoader([1,2],batch_sampler=[1]))
list(D.DataLoader([1,2],batch_sampler=3))
D.DataLoader([1,2],batch_size=None,batch_sampler=[[0]])
list(D.DataLoader([1,2],batch_size=None,shuffle=False))
list(D.DataLoader({"a":1}))
len(D.DataLoader(iter([1])))
D.DataLoader([1],persistent_workers=True)
D.DataLoader([1],in_order=False)
D.DataLoader([1],in_order="a")
D.DataLoader([1],multiprocessing_context="fork")
D.DataLoader([1,2,3],drop_last="a")
D.Dataset()[0]
len(D.Dataset())
D.Dataset()+3
D.Dataset()+D.Dataset()
stream(D)+stream(D)
list(stream(D)+[1])
len(stream(D)+[1])
stream(D)[0]
D.ConcatDataset([stream(D)])
"""

SETS = """
D.RandomSampler(3)
D.RandomSampler([1],replacement=1)
D.RandomSampler([1],num_samples=0)
D.RandomSampler([1],num_samples=-1)
D.RandomSampler([1],num_samples=1.5)
D.RandomSampler([1],num_samples="a")
D.RandomSampler([1],num_samples=True)
D.RandomSampler([])
D.RandomSampler([],num_samples=3)
list(D.RandomSampler([],num_samples=3))
list(D.RandomSampler([],num_samples=3,replacement=True))
list(D.RandomSampler([1],generator=3))
D.RandomSampler([1],num_samples=5)
len(D.RandomSampler([1],num_samples=5))
list(D.RandomSampler([1],num_samples=5))
D.SequentialSampler(3)
list(D.SequentialSampler(3))
D.SubsetRandomSampler(3)
list(D.SubsetRandomSampler(3))
list(D.SubsetRandomSampler([]))
D.WeightedRandomSampler([1,2],0)
D.WeightedRandomSampler([1,2],True)
D.WeightedRandomSampler([1,2],1.0)
D.WeightedRandomSampler([1,2],2,replacement=3)
D.WeightedRandomSampler([[1,2]],2)
D.WeightedRandomSampler(3,2)
D.WeightedRandomSampler("ab",2)
D.WeightedRandomSampler([],2)
list(D.WeightedRandomSampler([],2))
list(D.WeightedRandomSampler([1.,2.],3,False))
list(D.WeightedRandomSampler([-1.,2.],1))
list(D.WeightedRandomSampler([0.,0.],1))
list(D.WeightedRandomSampler([float("nan"),1.],1))
list(D.WeightedRandomSampler([1,1],1,generator=3))
D.BatchSampler([1],0,False)
D.BatchSampler([1],True,False)
D.BatchSampler([1],1.0,False)
D.BatchSampler([1],1,0)
D.BatchSampler([1],1,None)
D.BatchSampler(3,1,False)
list(D.BatchSampler(3,1,False))
len(D.BatchSampler(iter([1]),1,False))
D.BatchSampler([1],1)
D.BatchSampler([1])
len(D.Sampler())
list(D.Sampler())
D.Sampler(3)
iter(D.Sampler([1]))
D.IterableDataset()
D.TensorDataset()
len(D.TensorDataset())
D.TensorDataset(3)
D.TensorDataset(t.ones(3),t.ones(2))
D.TensorDataset(t.tensor(3))
len(D.TensorDataset(t.ones(2)))
D.TensorDataset(t.ones(3))[5]
D.TensorDataset([1,2])
D.TensorDataset(numpy.ones(3))
D.ConcatDataset([])
D.ConcatDataset(3)
D.ConcatDataset([3])
D.ConcatDataset([[1],[2]])[5]
D.ConcatDataset([[1],[2]])[-5]
D.ConcatDataset([[1],[2]])["a"]
D.ConcatDataset([[1],[2]])[-1]
D.ConcatDataset([[1],[2]])[1.0]
D.ChainDataset(3)
list(D.ChainDataset(3))
list(D.ChainDataset([[1]]))
len(D.ChainDataset([[1]]))
D.StackDataset()
D.StackDataset([1],[1,2])
D.StackDataset([1],a=[1])
D.StackDataset(a=[1],b=[1,2])
D.StackDataset(3)
D.StackDataset([1],3)
D.StackDataset([1,2])[5]
D.StackDataset([1,2]).__getitems__([5])
D.StackDataset(a=[1,2]).__getitems__([0,1])
D.StackDataset([1,2]).__getitems__([0,1])
D.Subset([1],3)
D.Subset([1],[5])[0]
D.Subset([1],[0])[3]
D.Subset([1,2],[0,1]).__getitems__([0,1])
len(D.Subset([1],3))
D.Subset(3,[1])
D.Subset([1,2],[0,1])["a"]
D.Subset([1,2],[0,1])[[0]]
D.random_split([1,2,3],[1,1])
D.random_split([1,2,3],[0.5,0.6])
D.random_split([1,2,3],[0.5,0.5])
D.random_split([1,2,3],[1.5,-0.5])
D.random_split([1,2,3],[4,-1])
D.random_split([1,2,3],[-1,4])
D.random_split([1,2,3],3)
D.random_split([1,2,3],["a"])
D.random_split([1,2,3],[])
D.random_split([],[])
D.random_split([],[0])
D.random_split([],[1.0])
D.random_split(3,[3])
D.random_split([1,2,3],[3],generator=3)
D.random_split([1,2,3],[1.0,2.0])
D.random_split([1,2,3],[0.3,0.3])
[x.indices for x in D.random_split([1,2,3],[0.33,0.67],t.Generator().manual_seed(1))]
D.DistributedSampler([1],2,2)
D.DistributedSampler([1],2,-1)
D.DistributedSampler([1],0,0)
D.DistributedSampler([1],"a",0)
D.DistributedSampler([1],2,0,seed="a")
list(D.DistributedSampler([1],2,0,seed="a"))
D.DistributedSampler(3,2,0)
list(D.DistributedSampler([],2,0))
list(D.DistributedSampler([1,2,3],2,0,drop_last=True))
list(D.DistributedSampler([1],3,2,drop_last=True))
D.DistributedSampler([1,2],2.0,0)
D.DistributedSampler([1],2,0).set_epoch("a")
"""

COLLATE = """
D.default_collate([])
D.default_collate(3)
D.default_collate([None])
D.default_collate([1,"a"])
D.default_collate(["a",1])
D.default_collate([1,2.5])
D.default_collate([1.5,2])
D.default_collate([True,False])
D.default_collate([1+2j])
D.default_collate([2**70])
D.default_collate([b"a"])
D.default_collate([bytearray(b"ab"),bytearray(b"cd")])
D.default_collate([(1,2),(3,)])
D.default_collate([[1,2],[3]])
D.default_collate([Pair(1,2),Pair(3,4)])
D.default_collate([{"a":1},{"b":2}])
D.default_collate([{"a":1},{"a":2,"b":2}])
D.default_collate([{}])
D.default_collate([[],[]])
D.default_collate([(),()])
D.default_collate([Table(),Table()])
D.default_collate([Fixed(),Fixed()])
D.default_collate([Row(),Row()])
D.default_collate([Lines([1,2]),Lines([3,4])])
D.default_collate([Named(a=1),Named(a=2)])
D.default_collate([collections.OrderedDict(a=1)])
D.default_collate([collections.defaultdict(int,a=1)])
D.default_collate([collections.deque([1,2])])
D.default_collate([collections.Counter("ab")])
D.default_collate([types.MappingProxyType({"a":1})])
D.default_collate([range(3),range(3)])
D.default_collate([{1,2}])
D.default_collate([numpy.array(["a"])])
D.default_collate([numpy.array([1,2]),numpy.array([3,4])])
D.default_collate([numpy.array([1,2]),numpy.array([3])])
D.default_collate([numpy.float32(1),numpy.float32(2)])
D.default_collate([numpy.float64(1),numpy.float64(2)])
D.default_collate([numpy.int8(1)])
D.default_collate([numpy.bool_(True)])
D.default_collate([numpy.str_("a")])
D.default_collate([numpy.array(1.)])
D.default_collate([numpy.array([None])])
D.default_collate([numpy.datetime64("2020-01-01")])
D.default_collate([numpy.float16(2)])
D.default_collate([array.array("i",[1,2])])
D.default_collate([t.ones(2),t.ones(3)])
D.default_collate([t.ones(2),3])
D.default_collate([t.ones(2),t.ones(2,dtype=t.int64)])
D.default_collate([t.nn.Parameter(t.ones(2))])
D.default_collate({"a":1})
D.default_collate("ab")
D.default_collate(t.ones(2))
D.default_convert(None)
D.default_convert(3)
D.default_convert("a")
D.default_convert(numpy.array([1]))
D.default_convert(numpy.array(["a"]))
D.default_convert(numpy.float32(1))
D.default_convert(numpy.str_("a"))
D.default_convert((1,numpy.array(1)))
D.default_convert(Pair(1,numpy.array(1)))
D.default_convert({"a":numpy.array(1)})
D.default_convert(Table())
D.default_convert(Fixed())
D.default_convert(Row())
D.default_convert(Lines([numpy.array(1)]))
D.default_convert(range(3))
D.default_convert({1})
D.default_convert(b"a")
D.default_convert(bytearray(b"ab"))
D.default_convert(collections.deque([numpy.array(1)]))
D.default_convert(types.MappingProxyType({"a":1}))
"""

MEMORY = """
M.spawn(print,nprocs=-1)
M.spawn(print,nprocs=0)
M.start_processes(print,start_method=3)
M.spawn()
M.Pool(0)
M.get_context("x")
M.set_sharing_strategy("x")
M.set_sharing_strategy(3)
M.Pipe(1,2,3)
M.Semaphore(-1)
t.UntypedStorage(-1)
t.UntypedStorage("a")
t.UntypedStorage(1.5)
t.UntypedStorage([1,2])
t.UntypedStorage([1.5])
t.UntypedStorage(["a"])
t.UntypedStorage(None)
t.UntypedStorage(1,2)
t.UntypedStorage(2**70)
t.UntypedStorage(1,device="bogus")
t.UntypedStorage(foo=3)
t.UntypedStorage(3)[5]
t.UntypedStorage(3)["a"]
t.UntypedStorage(3).resize_(-1)
t.UntypedStorage(3).resize_("a")
t.UntypedStorage(3).fill_("a")
t.UntypedStorage(3).copy_(3)
t.UntypedStorage(3).copy_(t.UntypedStorage(4))
t.UntypedStorage.from_file("/nope/x",False,3)
t.UntypedStorage.from_file("/dev/null",False,3)
t.UntypedStorage.from_file(3)
t.UntypedStorage.from_file("/etc/hostname",False,-1)
t.TypedStorage(-1)
t.TypedStorage("a")
t.TypedStorage(1,2)
t.TypedStorage(1.5)
t.TypedStorage(wrap_storage=3)
t.TypedStorage([1,"a"])
t.FloatStorage(-1)
t.FloatStorage("a")
t.FloatStorage([1,2])
t.FloatStorage(1,2)
t.FloatStorage(None)
t.FloatStorage(wrap_storage=3)
t.FloatStorage.from_buffer(b"abc")
t.FloatStorage.from_buffer(b"abcd",byte_order="x")
t.FloatStorage.from_buffer(b"abcd",byte_order="native",offset=9)
t.FloatStorage.from_buffer(b"abcd",byte_order="native",count=9)
t.FloatStorage.from_buffer(3,byte_order="native")
t.FloatStorage(2)[5]
t.FloatStorage(2)["a"]
t.LongStorage([1])[0]
t.frombuffer(b"")
"""


def plain(value: Any) -> Any:
    """The value without objects of either library."""
    if (
        hasattr(value, "dtype")
        and hasattr(value, "tolist")
        and not isinstance(value, (numpy.ndarray, numpy.generic))
    ):
        return type(value).__name__, str(value.dtype), value.tolist()

    if isinstance(value, Mapping):
        return type(value).__name__, {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, Row)):
        return type(value).__name__, [plain(each) for each in value]

    return (
        value
        if isinstance(value, (int, float, complex, str, bytes, type(None), range))
        else type(value).__name__
    )


def outcome(expression: str, library: Any) -> Any:
    name = library.__name__
    names = {
        "t": library,
        "D": importlib.import_module(f"{name}.utils.data"),
        "M": importlib.import_module(f"{name}.multiprocessing"),
    }

    library.manual_seed(0)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(eval(expression, globals(), names))
        except Exception as error:
            return type(error)


@only_torch_py
@pytest.mark.parametrize("group", ["DATA", "SETS", "COLLATE", "MEMORY"])
def test_as_pytorch(group: str) -> None:
    peer = pytest.importorskip("torch")
    wrong = []
    for expression in globals()[group].strip().splitlines():
        expected, got = outcome(expression, peer), outcome(expression, torch)
        if expected != got:
            wrong.append(f"{expression}: expected {expected}, got {got}")
    assert not wrong, "\n".join(wrong)


def test_subclasses_without_the_initialisation_of_this_class():
    """They have the attributes of PyTorch's loader; timm changes the order of an initialized one."""
    whole = torch.utils.data.DataLoader(list(range(4)), batch_size=2)

    class Copy(torch.utils.data.DataLoader):
        def __init__(self, other):
            vars(self).update({name: value for name, value in vars(other).items() if name != "_is_stream"})

    assert [batch.tolist() for batch in Copy(whole)] == [[0, 1], [2, 3]] and len(Copy(whole)) == 2

    class Reversed(torch.utils.data.DataLoader):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            self._DataLoader__initialized = False
            self.batch_sampler = list(reversed(list(self.batch_sampler)))
            self._DataLoader__initialized = True

    loader = Reversed(list(range(4)), batch_size=2)
    assert [batch.tolist() for batch in loader] == [[2, 3], [0, 1]]
    with pytest.raises(ValueError, match="batch_sampler attribute should not be set"):
        loader.batch_sampler = []
