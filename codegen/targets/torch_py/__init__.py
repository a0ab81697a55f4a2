"""What torch_py generates: C++ for its dispatcher, autograd and bindings, Python stubs and documentation.

``analysis`` has facts that follow from checked operators, ``emit`` the generated files, ``backends`` what
connects devices outside the tree, and ``cli`` the commands for authors of operators.
"""
