"""transformers: small random models of many kinds, forward, backward, a training step, generation, saving."""

import tempfile

import torch
import transformers as T

torch.manual_seed(0)
small = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "vocab_size": 64,
}
tokens = torch.randint(4, 64, (2, 12))
mask = torch.ones_like(tokens)
mask[1, 8:] = 0


def train(name, model, **inputs):
    torch.manual_seed(2)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(2):
        loss = model(**inputs).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(name, sum(p.numel() for p in model.parameters()), loss.item(), flush=True)
    return model.eval()


def make(kind, configuration):
    torch.manual_seed(1)
    return kind(configuration)


bert = make(T.BertForMaskedLM, T.BertConfig(**small))
train("bert", bert, input_ids=tokens, attention_mask=mask, labels=tokens)
train(
    "bert classes",
    make(T.BertForSequenceClassification, T.BertConfig(**small, num_labels=3)),
    input_ids=tokens,
    labels=torch.tensor([0, 2]),
)
gpt = make(
    T.GPT2LMHeadModel,
    T.GPT2Config(
        n_embd=32, n_layer=2, n_head=4, vocab_size=64, n_positions=64, bos_token_id=1, eos_token_id=2
    ),
)
train("gpt2", gpt, input_ids=tokens, attention_mask=mask, labels=tokens)
print("greedy", gpt.generate(tokens[:, :4], max_new_tokens=6, do_sample=False, pad_token_id=0).tolist())
print(
    "beams",
    gpt.generate(tokens[:, :4], max_new_tokens=4, num_beams=3, do_sample=False, pad_token_id=0).tolist(),
)
llama = make(T.LlamaForCausalLM, T.LlamaConfig(**small, num_key_value_heads=2, max_position_embeddings=64))
train("llama", llama, input_ids=tokens, attention_mask=mask, labels=tokens)
print(
    "llama greedy", llama.generate(tokens[:, :4], max_new_tokens=6, do_sample=False, pad_token_id=0).tolist()
)
t5 = make(
    T.T5ForConditionalGeneration,
    T.T5Config(
        d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=64, decoder_start_token_id=0
    ),
)
train("t5", t5, input_ids=tokens, labels=tokens)
print("t5 greedy", t5.generate(tokens, max_new_tokens=5, do_sample=False).tolist())
sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
images = torch.randn(2, 3, 32, 32)
train(
    "vit",
    make(T.ViTForImageClassification, T.ViTConfig(**sizes, image_size=32, patch_size=8, num_labels=3)),
    pixel_values=images,
    labels=torch.tensor([0, 2]),
)
whisper = T.WhisperConfig(
    d_model=32,
    encoder_layers=1,
    decoder_layers=1,
    encoder_attention_heads=2,
    decoder_attention_heads=2,
    encoder_ffn_dim=64,
    decoder_ffn_dim=64,
    vocab_size=64,
    num_mel_bins=8,
    max_source_positions=20,
    max_target_positions=20,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
    decoder_start_token_id=3,
)
train(
    "whisper",
    make(T.WhisperForConditionalGeneration, whisper),
    input_features=torch.randn(2, 8, 40),
    labels=tokens,
)
with tempfile.TemporaryDirectory() as folder:
    bert.save_pretrained(folder)
    again = T.BertForMaskedLM.from_pretrained(folder).eval()
    print("saved", torch.equal(again(tokens).logits, bert.eval()(tokens).logits))
