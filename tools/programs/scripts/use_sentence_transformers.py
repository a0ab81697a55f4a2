"""sentence-transformers: embeddings of a tiny random encoder, its training, and search by similarity."""

import tempfile
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer, losses, util
from sentence_transformers import models as parts
from transformers import BertConfig, BertModel, BertTokenizerFast

torch.manual_seed(0)
words = "[PAD] [UNK] [CLS] [SEP] [MASK] a b c d e f g the cat dog sat ran on mat".split()
sentences = ["the cat sat on the mat", "the dog ran", "a b c d", "e f g"]
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "vocab.txt").write_text("\n".join(words))
    tokenizer = BertTokenizerFast(vocab_file=f"{folder}/vocab.txt")
    tokenizer.save_pretrained(folder)
    configuration = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
    )
    BertModel(configuration).save_pretrained(folder)
    encoder = parts.Transformer(folder)
    size = 16
    model = SentenceTransformer(
        modules=[encoder, parts.Pooling(size), parts.Dense(size, 8), parts.Normalize()], device="cpu"
    )
    vectors = model.encode(sentences, convert_to_tensor=True, show_progress_bar=False)
    print("encoded", tuple(vectors.shape), vectors.sum().item(), model.encode(sentences).std().item())
    print(
        "similar",
        model.similarity(vectors, vectors).sum().item(),
        util.cos_sim(vectors[0], vectors[1:]).sum().item(),
    )
    print(
        "search",
        [[hit["corpus_id"] for hit in hits] for hits in util.semantic_search(vectors[:2], vectors, top_k=2)],
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, eps=1e-4)
    for criterion, labels in (
        (losses.MultipleNegativesRankingLoss(model), None),
        (losses.CosineSimilarityLoss(model), torch.tensor([0.3, 0.8])),
        (losses.ContrastiveLoss(model), torch.tensor([0, 1])),
        (losses.CoSENTLoss(model), torch.tensor([0.3, 0.8])),
    ):
        model.eval()  # without dropout
        batch = [model.tokenize(sentences[:2]), model.tokenize(sentences[2:])]
        loss = criterion(batch, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(type(criterion).__name__, loss.item())
    model.save(f"{folder}/model")
    again = SentenceTransformer(f"{folder}/model", device="cpu")
    print(
        "again",
        torch.allclose(
            again.encode(sentences, convert_to_tensor=True),
            model.encode(sentences, convert_to_tensor=True),
            atol=1e-6,
        ),
    )
