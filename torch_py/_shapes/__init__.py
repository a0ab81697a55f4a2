"""Sizes that vary: formulas of them, and how the formulas are found from programs recorded for several sizes."""
