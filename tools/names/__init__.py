"""PyTorch's names, those that programs use, and which of them torch_py has."""
