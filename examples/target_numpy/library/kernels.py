"""Functions of the operators that are not formulas; arrays are NumPy's."""

import numpy as np


def where(condition, self, other):
    return np.where(condition, self, other)


def zeros_like(self):
    return np.zeros_like(self)


def broadcast_to(self, size):
    return np.broadcast_to(self, tuple(size))


def sum_to(self, size):
    front = self.ndim - len(size)
    repeated = [front + i for i, n in enumerate(size) if n == 1 and self.shape[front + i] != 1]
    return self.sum(axis=(*range(front), *repeated)).reshape(tuple(size))


def reshape(self, size):
    return self.reshape(tuple(size))


def transpose(self):
    return self.T


def sum(self):
    return self.sum()


def mean(self):
    return self.mean()


def matmul(self, other):
    return self @ other
