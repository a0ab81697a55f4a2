"""The operator explorer: a page for each public operator, made from its entries."""
