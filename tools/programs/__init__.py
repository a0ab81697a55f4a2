"""Packages that use PyTorch, unmodified, under PyTorch and under torch_py: what they compute must agree."""
