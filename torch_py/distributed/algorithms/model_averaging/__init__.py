"""Averages of the parameters of several processes."""
