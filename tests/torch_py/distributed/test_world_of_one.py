"""torch.distributed with a single process."""

import pytest

import torch_py as torch

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_world_of_one():
    dist = torch.distributed
    assert not dist.is_available() and not dist.is_initialized()

    with pytest.raises(ValueError, match="not been initialized"):
        dist.get_rank()
    with pytest.raises(NotImplementedError, match="world_size=2"):
        dist.init_process_group("gloo", world_size=2, rank=0)

    dist.init_process_group("gloo", world_size=1, rank=0)
    try:
        assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, "gloo")

        x = torch.arange(3.0)
        assert dist.all_reduce(x, async_op=True).wait() and x.tolist() == [0, 1, 2]
        gathered = [torch.zeros(3)]
        dist.all_gather(gathered, x)
        assert gathered[0].tolist() == [0, 1, 2]

        with pytest.raises(ValueError, match="rank 0"):
            dist.broadcast(x, src=1)

        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
        with model.no_sync():
            model(torch.ones(1, 2)).sum().backward()
        assert list(model.state_dict()) == ["module.weight", "module.bias"]
    finally:
        dist.destroy_process_group()


@pytest.mark.skipif(torch.cuda.is_available(), reason="for machines without a GPU")
def test_nccl_needs_a_gpu():
    with pytest.raises(RuntimeError, match="'nccl' needs a CUDA device"):
        torch.distributed.init_process_group("nccl", world_size=1, rank=0)
    assert not torch.distributed.is_initialized()
