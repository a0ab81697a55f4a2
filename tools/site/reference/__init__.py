"""The reference: every public function and class of the Python modules, from docstrings by introspection."""
