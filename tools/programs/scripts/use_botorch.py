"""botorch: a Gaussian process fitted to a function, acquisition functions optimised over it."""

import warnings

import torch
from botorch import fit_gpytorch_mll
from botorch.acquisition import (
    LogExpectedImprovement,
    UpperConfidenceBound,
    qExpectedImprovement,
    qLogExpectedImprovement,
)
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf
from botorch.sampling import IIDNormalSampler, SobolQMCNormalSampler
from botorch.test_functions import Branin
from botorch.utils.multi_objective import Hypervolume, is_non_dominated
from gpytorch.mlls import ExactMarginalLogLikelihood

warnings.filterwarnings("ignore")
torch.manual_seed(0)
problem = Branin(negate=True)
bounds = problem.bounds.to(torch.float64)
given = bounds[0] + (bounds[1] - bounds[0]) * torch.rand(12, 2, dtype=torch.float64)
values = problem(given).unsqueeze(-1)
model = SingleTaskGP(given, values, input_transform=Normalize(2), outcome_transform=Standardize(1))
mll = ExactMarginalLogLikelihood(model.likelihood, model)
fit_gpytorch_mll(mll)
point = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
posterior = model.posterior(point)
print("posterior", posterior.mean.sum().item(), posterior.variance.sum().item(), flush=True)
for name, acquisition in (
    ("ucb", UpperConfidenceBound(model, 0.2)),
    ("logei", LogExpectedImprovement(model, values.max())),
):
    print(name, acquisition(point.unsqueeze(1)).sum().item())
    candidate, value = optimize_acqf(
        acquisition, bounds, q=1, num_restarts=2, raw_samples=16, options={"seed": 1}
    )
    print(name, "optimum", value.item(), flush=True)
torch.manual_seed(1)
print(
    "qei",
    qExpectedImprovement(model, values.max(), IIDNormalSampler(torch.Size([64]), seed=1))(point).item() >= 0,
)
print(
    "qlogei",
    qLogExpectedImprovement(model, values.max(), SobolQMCNormalSampler(torch.Size([64]), seed=1))(
        point
    ).item(),
    flush=True,
)
front = torch.tensor([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0], [1.0, 1.0]])
print("front", is_non_dominated(front).tolist(), Hypervolume(torch.zeros(2)).compute(front))
