"""accelerate: a training loop with gradient accumulation, clipping, schedules and checkpoints.

Models are empty until they are loaded.
"""

import tempfile

import torch
from accelerate import Accelerator, init_empty_weights, load_checkpoint_and_dispatch
from accelerate.state import AcceleratorState
from accelerate.utils import compute_module_sizes, set_seed
from torch.utils.data import DataLoader, TensorDataset


def network():
    return torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.GELU(), torch.nn.Linear(16, 1))


set_seed(0)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
print(accelerator.device, accelerator.num_processes, accelerator.is_main_process, accelerator.mixed_precision)
inputs = torch.randn(32, 4)
data = TensorDataset(inputs, inputs.sum(1, keepdim=True))
model = network()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
model, optimizer, loader, schedule = accelerator.prepare(
    model, optimizer, DataLoader(data, batch_size=8), schedule
)
for _ in range(2):
    for batch, target in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.mse_loss(model(batch), target)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        print("loss", loss.item(), accelerator.sync_gradients, schedule.get_last_lr()[0])
print(
    "gathered",
    accelerator.gather_for_metrics(model(inputs).detach()).mean().item(),
    accelerator.reduce(loss.detach()).item(),
)

with tempfile.TemporaryDirectory() as folder:
    accelerator.save_state(folder)
    before = model[0].weight.detach().clone()
    with torch.no_grad():
        model[0].weight.zero_()
    accelerator.load_state(folder)
    print("restored", torch.equal(before, model[0].weight))
    accelerator.save_model(model, folder)
    with init_empty_weights():
        empty = network()
    print("empty", empty[0].weight.device, compute_module_sizes(empty)[""])
    full = load_checkpoint_and_dispatch(empty, folder + "/model.safetensors", device_map={"": "cpu"})
    print("loaded", torch.allclose(full(inputs), accelerator.unwrap_model(model)(inputs)))

AcceleratorState._reset_state(reset_partial_state=True)
low = Accelerator(cpu=True, mixed_precision="bf16")
model = low.prepare(network())
with low.autocast():
    print("autocast", model[0](inputs).dtype, model(inputs).dtype)
