"""pyro: a model with plates, inferred variationally and by Hamiltonian Monte Carlo, and what it predicts."""

import pyro
import pyro.distributions as dist
import torch
from pyro import poutine
from pyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO, TraceEnum_ELBO, config_enumerate
from pyro.infer.autoguide import AutoDiagonalNormal, AutoMultivariateNormal

pyro.set_rng_seed(0)
inputs = torch.linspace(-1, 1, 20)
targets = 2 * inputs + 0.5 + 0.1 * torch.sin(10 * inputs)


def line(inputs, targets=None):
    slope, offset = pyro.sample("slope", dist.Normal(0.0, 3.0)), pyro.sample("offset", dist.Normal(0.0, 3.0))
    width = pyro.sample("width", dist.LogNormal(-1.0, 0.5))
    with pyro.plate("data", len(inputs)):
        return pyro.sample("targets", dist.Normal(slope * inputs + offset, width), obs=targets)


trace = poutine.trace(
    poutine.condition(
        line, {"slope": torch.tensor(2.0), "offset": torch.tensor(0.5), "width": torch.tensor(0.2)}
    )
)
print("density", trace.get_trace(inputs, targets).log_prob_sum().item())

for kind in (AutoDiagonalNormal, AutoMultivariateNormal):
    pyro.clear_param_store()
    pyro.set_rng_seed(1)
    guide = kind(line)
    inference = SVI(line, guide, pyro.optim.ClippedAdam({"lr": 0.02}), Trace_ELBO())
    losses = [inference.step(inputs, targets) for _ in range(20)]
    print(kind.__name__, losses[0], losses[-1], {name: value.shape for name, value in guide.median().items()})
print("predicted", tuple(Predictive(line, guide=guide, num_samples=4)(inputs)["targets"].shape))


@config_enumerate
def mixture(values):
    weights = pyro.param("weights", torch.tensor([0.4, 0.6]), constraint=dist.constraints.simplex)
    places = pyro.param("places", torch.tensor([-1.0, 1.0]))
    with pyro.plate("values", len(values)):
        kind = pyro.sample("kind", dist.Categorical(weights))
        pyro.sample("value", dist.Normal(places[kind], 0.5), obs=values)


pyro.clear_param_store()
inference = SVI(
    mixture, lambda values: None, pyro.optim.Adam({"lr": 0.05}), TraceEnum_ELBO(max_plate_nesting=1)
)
values = torch.tensor([-1.3, -0.8, -1.1, 1.7, 2.2, 1.9, 2.0])
for _ in range(5):
    print("mixture", inference.step(values))
print("weights", pyro.param("weights").tolist(), pyro.param("places").tolist())

pyro.clear_param_store()
pyro.set_rng_seed(2)
chain = MCMC(NUTS(line, max_tree_depth=4), num_samples=40, warmup_steps=40, disable_progbar=True)
chain.run(inputs, targets)
samples = chain.get_samples()
print(
    "chain", abs(samples["slope"].mean().item() - 2) < 0.3, abs(samples["offset"].mean().item() - 0.5) < 0.2
)
