"""What is in it? Tensors go in, raw outputs come out."""
