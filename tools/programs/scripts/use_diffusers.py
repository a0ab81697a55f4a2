"""diffusers: a tiny U-Net learns to remove noise, schedulers take steps, models are saved and read again."""

import tempfile

import torch
from diffusers import (
    AutoencoderKL,
    DDIMScheduler,
    DDPMPipeline,
    DDPMScheduler,
    UNet2DConditionModel,
    UNet2DModel,
)
from diffusers.optimization import get_cosine_schedule_with_warmup

torch.manual_seed(0)
model = UNet2DModel(
    sample_size=16,
    in_channels=3,
    out_channels=3,
    layers_per_block=1,
    block_out_channels=(16, 32),
    norm_num_groups=8,
    attention_head_dim=8,
    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"),
)
scheduler = DDPMScheduler(num_train_timesteps=50, beta_schedule="squaredcos_cap_v2")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
rates = get_cosine_schedule_with_warmup(optimizer, 1, 10)
images = torch.rand(2, 3, 16, 16) * 2 - 1
for _ in range(3):
    noise, steps = torch.randn(images.shape), torch.randint(0, 50, (2,))
    guess = model(scheduler.add_noise(images, noise, steps), steps).sample
    loss = torch.nn.functional.mse_loss(guess, noise)
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    rates.step()
    print("loss", loss.item(), norm.item(), rates.get_last_lr()[0])

model.eval()
for kind in (DDPMScheduler, DDIMScheduler):
    scheduler = kind(num_train_timesteps=50)
    scheduler.set_timesteps(4)
    generator = torch.Generator().manual_seed(1)
    sample = torch.randn(1, 3, 16, 16, generator=generator)
    with torch.no_grad():
        for step in scheduler.timesteps:
            sample = scheduler.step(model(sample, step).sample, step, sample, generator=generator).prev_sample
    print(kind.__name__, scheduler.timesteps.tolist(), sample.mean().item(), sample.std().item())

condition = UNet2DConditionModel(
    sample_size=8,
    in_channels=4,
    out_channels=4,
    layers_per_block=1,
    block_out_channels=(16, 32),
    cross_attention_dim=8,
    norm_num_groups=8,
    attention_head_dim=8,
    down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
    up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
)
latents = condition(torch.randn(1, 4, 8, 8), 3, torch.randn(1, 5, 8)).sample
latents.square().mean().backward()
print("conditional", latents.std().item(), condition.conv_in.weight.grad.norm().item())
autoencoder = AutoencoderKL(block_out_channels=(16,), norm_num_groups=8, latent_channels=2, sample_size=16)
code = autoencoder.encode(images).latent_dist
print(
    "autoencoder",
    code.mean.std().item(),
    code.kl().mean().item(),
    autoencoder.decode(code.mode()).sample.std().item(),
)

with tempfile.TemporaryDirectory() as folder:
    DDPMPipeline(unet=model, scheduler=DDPMScheduler(num_train_timesteps=50)).save_pretrained(folder)
    pipeline = DDPMPipeline.from_pretrained(folder)
pipeline.set_progress_bar_config(disable=True)
made = pipeline(
    batch_size=1, num_inference_steps=3, generator=torch.Generator().manual_seed(2), output_type="np"
).images
print("pipeline", made.shape, float(made.mean()))
