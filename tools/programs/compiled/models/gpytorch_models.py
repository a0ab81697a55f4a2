"""Gaussian processes of gpytorch: the negative marginal likelihood."""

import gpytorch
import torch
from training import Model


class Likelihood(gpytorch.models.ExactGP):
    """The objective of training; data come as arguments."""

    def __init__(self, kernel):
        super().__init__(None, None, gpytorch.likelihoods.GaussianLikelihood())
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel)

    def __call__(self, x, y):
        prior = gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))
        return -self.likelihood(prior).log_prob(y) / x.size(0)


def data(batch):
    x = torch.linspace(0, 1, 5 * batch)
    return x, torch.sin(6 * x) + 0.1 * torch.randn(5 * batch)


MODELS = {
    kind.__name__: Model(lambda kind=kind: Likelihood(kind()), data)
    for kind in (gpytorch.kernels.RBFKernel, gpytorch.kernels.MaternKernel, gpytorch.kernels.PeriodicKernel)
}
