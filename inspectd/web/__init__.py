"""The operator's view: a page in a browser; a bounded process that nobody of the line waits for."""
