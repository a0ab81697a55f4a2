"""safetensors: files of tensors and models, bytes, slices; shared tensors are told."""

import os
import tempfile

import torch
from safetensors import safe_open
from safetensors.torch import load, load_file, load_model, save, save_file, save_model

torch.manual_seed(0)
folder = tempfile.mkdtemp()
path = os.path.join(folder, "tensors.safetensors")
kinds = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
)
tensors = {str(kind): (torch.randn(3, 4) * 3).to(kind) for kind in kinds}
save_file(tensors, path, metadata={"format": "pt"})
back = load_file(path)
for name in sorted(back):
    print(name, back[name].dtype, back[name].double().sum().item(), torch.equal(back[name], tensors[name]))
with safe_open(path, framework="pt", device="cpu") as file:
    print("keys", len(list(file.keys())), file.metadata())
    print(
        "slice",
        file.get_slice("torch.float32")[1:, :2].sum().item(),
        file.get_tensor("torch.int64").sum().item(),
    )
print("bytes", torch.equal(load(save({"x": torch.arange(5)}))["x"], torch.arange(5)))

model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.randn(5, 4)).square().mean().backward()
optimizer.step()
save_model(model, path)
other = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
print("missing, unexpected", load_model(other, path))
print("same", torch.equal(other(torch.ones(1, 4)), model(torch.ones(1, 4))), other[0].weight.sum().item())
shared = torch.ones(4)
try:
    save_file({"a": shared, "b": shared}, path)
except RuntimeError as error:
    print("shared", "share memory" in str(error))
