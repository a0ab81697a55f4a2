"""Drafts entries from the declarations that an installed PyTorch brings along.

``declarations`` finds and reads them, ``formulas`` translates derivatives, ``drafts`` writes entries and
``checking`` lets the checker judge them: what it refuses is marked for the author.
"""
