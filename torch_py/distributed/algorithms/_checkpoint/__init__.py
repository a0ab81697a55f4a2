"""Wrappers of modules that save memory during training."""
