"""x-transformers: a decoder with rotary positions, an encoder-decoder and a vision transformer; sampling."""

import torch
from x_transformers import (
    AutoregressiveWrapper,
    ContinuousTransformerWrapper,
    Decoder,
    Encoder,
    TransformerWrapper,
    ViTransformerWrapper,
    XTransformer,
)

torch.manual_seed(0)
layers = Decoder(
    dim=32, depth=2, heads=4, rotary_pos_emb=True, attn_flash=False, ff_glu=True, use_rmsnorm=True
)
language = AutoregressiveWrapper(TransformerWrapper(num_tokens=50, max_seq_len=32, attn_layers=layers))
tokens = torch.randint(0, 50, (2, 17))
optimizer = torch.optim.Adam(language.parameters(), lr=3e-3)
for _ in range(3):
    loss = language(tokens)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(language.parameters(), 1.0)
    optimizer.step()
    print("loss", loss.item())
language.eval()
print("greedy", language.generate(tokens[:, :4], 6, temperature=0.0).tolist())

image = ViTransformerWrapper(
    image_size=16, patch_size=4, num_classes=5, attn_layers=Encoder(dim=32, depth=1, heads=4)
)
print("image", image(torch.randn(2, 3, 16, 16)).sum().item())
series = ContinuousTransformerWrapper(
    dim_in=4, dim_out=3, max_seq_len=20, attn_layers=Encoder(dim=32, depth=1, heads=4, alibi_pos_bias=True)
)
print("series", series(torch.randn(2, 20, 4), mask=torch.ones(2, 20).bool()).sum().item())
both = XTransformer(
    dim=32,
    enc_num_tokens=20,
    enc_depth=1,
    enc_heads=2,
    enc_max_seq_len=10,
    dec_num_tokens=20,
    dec_depth=1,
    dec_heads=2,
    dec_max_seq_len=10,
)
loss = both(torch.randint(0, 20, (2, 10)), torch.randint(0, 20, (2, 10)), mask=torch.ones(2, 10).bool())
loss.backward()
print("encoder-decoder", loss.item())
