"""Sizes that vary: formulas of them, found from programs that were recorded for several sizes."""
