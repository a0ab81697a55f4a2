"""Commands for authors of operators of torch_py."""
