"""gpytorch: exact and variational Gaussian processes, trained; kernels; a multitask model."""

import gpytorch
import torch

torch.manual_seed(0)
x = torch.linspace(0, 1, 30)
y = torch.sin(6 * x) + 0.1 * torch.randn(30)


class Exact(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood, kernel):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel)

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


kernels = gpytorch.kernels
for kernel in (
    kernels.RBFKernel(),
    kernels.MaternKernel(nu=2.5),
    kernels.RQKernel(),
    kernels.PeriodicKernel(),
    kernels.LinearKernel() + kernels.RBFKernel(),
):
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Exact(x, y, likelihood, kernel)
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model.train()
    for _ in range(5):
        optimizer.zero_grad()
        loss = -objective(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad(), gpytorch.settings.fast_pred_var():
        predicted = likelihood(model(torch.linspace(0, 1, 7)))
    print(type(kernel).__name__, loss.item(), predicted.mean.sum().item(), predicted.variance.sum().item())


class Variational(gpytorch.models.ApproximateGP):
    def __init__(self, points):
        distribution = gpytorch.variational.CholeskyVariationalDistribution(points.size(0))
        super().__init__(
            gpytorch.variational.VariationalStrategy(
                self, points, distribution, learn_inducing_locations=True
            )
        )
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


model, likelihood = Variational(x[::3].clone()), gpytorch.likelihoods.BernoulliLikelihood()
objective = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=30)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(4):
    optimizer.zero_grad()
    loss = -objective(model(x), (y > 0).float())
    loss.backward()
    optimizer.step()
print("variational", loss.item(), model(x).mean.sum().item())
