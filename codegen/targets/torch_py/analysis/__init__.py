"""Facts that follow from checked operators and that several emitters need; no generated text.

``functions`` lists the C++ functions of an operator, ``kernels`` sorts its kernels, ``gradient_kind`` says
how it takes part in autograd, ``implied_operators`` adds what formulas imply, and ``argument_names`` avoids
clashes of names in C++.
"""
