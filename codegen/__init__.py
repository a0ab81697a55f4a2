"""The generator: reads operator declarations and writes the C++ and Python that a machine can write.

Layers, each using only the ones before it: ``schema`` (the ``func:`` grammar), ``yaml`` (values with
locations),
``expressions`` (formulas), ``model`` (checked operators), ``emit`` (generated files), ``cli`` (the commands).
"""
