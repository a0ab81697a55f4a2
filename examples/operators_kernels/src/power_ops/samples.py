"""Arguments to test with. Those of torch_py are enough here: unary tensors, and dimensions to reduce."""
