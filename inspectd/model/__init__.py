"""What a model directory says, and its pure consequences: pixels to tensor, raw to boxes."""
