"""The format of `torch.save`: how tensors are taken apart (rebuild), named (names), written (writer) and read
(reader)."""
