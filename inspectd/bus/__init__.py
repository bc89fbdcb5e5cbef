"""The road between processes: descriptors by message, pixels by shared memory."""
