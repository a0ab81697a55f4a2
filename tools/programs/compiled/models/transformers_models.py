"""Small random models of transformers."""

import torch
import transformers as T
from training import Model

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
SMALL = {**SIZES, "vocab_size": 64}
WHISPER = T.WhisperConfig(
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


class Loss(torch.nn.Module):
    """The loss of a model with the inputs as labels."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, **inputs):
        return self.model(tokens, labels=tokens, **inputs).loss


def tokens(batch):
    return (torch.randint(4, 64, (batch, 12)),)


MODELS = {
    "BertForMaskedLM": Model(lambda: Loss(T.BertForMaskedLM(T.BertConfig(**SMALL))), tokens),
    "GPT2LMHeadModel": Model(
        lambda: Loss(T.GPT2LMHeadModel(T.GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=64))), tokens
    ),
    "LlamaForCausalLM": Model(
        lambda: Loss(T.LlamaForCausalLM(T.LlamaConfig(**SMALL, num_key_value_heads=2))), tokens
    ),
    "T5ForConditionalGeneration": Model(
        lambda: Loss(
            T.T5ForConditionalGeneration(
                T.T5Config(
                    d_model=32,
                    d_kv=8,
                    d_ff=64,
                    num_layers=2,
                    num_heads=4,
                    vocab_size=64,
                    decoder_start_token_id=0,
                )
            )
        ),
        tokens,
    ),
    "MistralForCausalLM": Model(
        lambda: Loss(T.MistralForCausalLM(T.MistralConfig(**SMALL, num_key_value_heads=2))), tokens
    ),
    "ViTForImageClassification": Model(
        lambda: T.ViTForImageClassification(T.ViTConfig(**SIZES, image_size=32, patch_size=8)),
        lambda batch: (torch.randn(batch, 3, 32, 32),),
    ),
    "WhisperModel": Model(
        lambda: T.WhisperModel(WHISPER),
        lambda batch: (torch.randn(batch, 8, 40), None, *tokens(batch)),
    ),
}
