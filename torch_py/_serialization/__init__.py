"""The file format of `torch.save`: how tensors are decomposed (rebuild),
named (names), written (writer) and read (reader)."""
