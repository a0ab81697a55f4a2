"""The generator: reads operator declarations and writes the C++ and Python that follow from them.

Layers, each using only the ones before it: ``schema`` (the ``func:`` grammar), ``yaml`` (values with
locations), ``expressions`` (formulas), ``model`` (checked operators), ``analysis`` (facts that follow from
them), ``emit`` (generated files), ``cli`` (the commands).
"""
