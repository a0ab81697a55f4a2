"""The functions of `torch.cuda` about random numbers, under their other name."""

from torch_py.cuda import get_rng_state as get_rng_state
from torch_py.cuda import get_rng_state_all as get_rng_state_all
from torch_py.cuda import initial_seed as initial_seed
from torch_py.cuda import manual_seed as manual_seed
from torch_py.cuda import manual_seed_all as manual_seed_all
from torch_py.cuda import set_rng_state as set_rng_state
from torch_py.cuda import set_rng_state_all as set_rng_state_all
