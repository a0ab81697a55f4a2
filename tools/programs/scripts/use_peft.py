"""peft: small adapters (LoRA and others) on tiny networks, trained, merged and saved."""

import tempfile

import torch
from peft import (
    IA3Config,
    LoHaConfig,
    LoraConfig,
    OFTConfig,
    PeftModel,
    PrefixTuningConfig,
    PromptTuningConfig,
    get_peft_model,
)
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
tokens = torch.randint(4, 64, (2, 10))


def language():
    torch.manual_seed(1)
    return GPT2LMHeadModel(
        GPT2Config(
            n_embd=32, n_layer=2, n_head=4, vocab_size=64, n_positions=64, bos_token_id=1, eos_token_id=2
        )
    )


def plain():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))


def train(name, model, compute):
    torch.manual_seed(2)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-2)
    for _ in range(3):
        loss = compute(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(name, sum(p.numel() for p in trained), loss.item(), flush=True)
    return model.eval()


def language_loss(model):
    return model(input_ids=tokens, labels=tokens).loss


causal = {"task_type": "CAUSAL_LM"}
for name, configuration in (
    ("lora", LoraConfig(r=4, lora_alpha=8, target_modules=["c_attn"], fan_in_fan_out=True, **causal)),
    ("dora", LoraConfig(r=4, use_dora=True, target_modules=["c_attn"], fan_in_fan_out=True, **causal)),
    ("prompt", PromptTuningConfig(num_virtual_tokens=4, **causal)),
    ("prefix", PrefixTuningConfig(num_virtual_tokens=4, **causal)),
    ("ia3", IA3Config(target_modules=["c_attn"], feedforward_modules=[], fan_in_fan_out=True, **causal)),
):
    model = train(name, get_peft_model(language(), configuration), language_loss)
    if name == "lora":
        before = model(input_ids=tokens).logits
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            again = PeftModel.from_pretrained(language(), folder).eval()
        print("saved", torch.allclose(again(input_ids=tokens).logits, before, atol=1e-5))
        with model.disable_adapter():
            print(
                "disabled",
                torch.allclose(
                    model(input_ids=tokens).logits, language().eval()(input_ids=tokens).logits, atol=1e-5
                ),
            )
        print("merged", torch.allclose(model.merge_and_unload()(input_ids=tokens).logits, before, atol=1e-4))

values, labels = torch.randn(6, 8), torch.tensor([0, 1, 2, 3, 0, 1])
for name, configuration in (
    ("linear lora", LoraConfig(r=2, target_modules=["0"], modules_to_save=["2"])),
    ("loha", LoHaConfig(r=2, target_modules=["0"])),
    ("oft", OFTConfig(oft_block_size=4, target_modules=["0"])),
):
    train(
        name,
        get_peft_model(plain(), configuration),
        lambda model: torch.nn.functional.cross_entropy(model(values), labels),
    )
