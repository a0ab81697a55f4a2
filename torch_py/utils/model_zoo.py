"""The older name of the downloads of `torch.hub`."""

from torch_py.hub import _bar as tqdm  # noqa: F401  # PyTorch's name
from torch_py.hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]
