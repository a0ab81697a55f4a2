"""The older name of `torch.hub`'s downloads."""

from torch_py.hub import _bar as tqdm
from torch_py.hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]
