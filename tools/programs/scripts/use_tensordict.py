"""tensordict: dictionaries of tensors, nested, stacked and saved, and modules that read and write them."""

import tempfile

import torch
from tensordict import TensorDict, TensorDictParams, from_module, pad_sequence
from tensordict.nn import ProbabilisticTensorDictModule, TensorDictModule, TensorDictSequential

torch.manual_seed(0)
data = TensorDict({"a": torch.randn(4, 3), "nested": {"b": torch.arange(8.0).view(4, 2)}}, batch_size=[4])
print("shape", data.shape, sorted(map(str, data.keys(True, True))), data["nested", "b"].sum().item())
print(
    "indexed",
    data[1:3].shape,
    data[0]["nested", "b"].tolist(),
    data.reshape(2, 2).shape,
    data.unsqueeze(0).shape,
    len(data.split(2)),
)
print(
    "stacked",
    torch.stack([data, data]).shape,
    torch.cat([data, data], 0).shape,
    torch.stack([data, data], 1)["a"].shape,
)
print(
    "arithmetic",
    (data * 2 + 1)["a"].sum().item(),
    data.apply(torch.square)["nested", "b"].sum().item(),
    data.norm()["a"].item() > 0,
)
print(
    "changed",
    data.clone().zero_()["a"].sum().item(),
    data.to(torch.float64)["a"].dtype,
    data.select("a").shape,
)
data["nested", "c"] = torch.ones(4)
print("flat", sorted(data.flatten_keys(".").keys()), data.exclude(("nested", "c"))["nested"].batch_size)
print("padded", pad_sequence([data[:2], data[:3]])["a"].shape)
model = TensorDictSequential(
    TensorDictModule(torch.nn.Linear(3, 8), ["a"], ["hidden"]),
    TensorDictModule(torch.nn.Tanh(), ["hidden"], ["hidden"]),
    TensorDictModule(torch.nn.Linear(8, 2), ["hidden"], ["out"]),
)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(3):
    loss = (model(data.clone())["out"] - data["nested", "b"]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
weights = from_module(model)
print(
    "weights", weights["module", "0", "module", "weight"].shape, TensorDictParams(weights.clone()).numel() > 0
)
with weights.data.clone().zero_().to_module(model):
    print("functional", model(data.clone())["out"].abs().sum().item())
sampled = ProbabilisticTensorDictModule(
    ["loc", "scale"], ["x"], distribution_class=torch.distributions.Normal
)
print("sampled", sampled(TensorDict({"loc": torch.zeros(4), "scale": torch.ones(4)}, [4]))["x"].shape)
with tempfile.TemporaryDirectory() as folder:
    data.memmap(folder)
    print("mapped", TensorDict.load_memmap(folder)["nested", "b"].sum().item())
    torch.save(data, f"{folder}/data.pt")
    print("saved", (torch.load(f"{folder}/data.pt", weights_only=False) == data).all())
