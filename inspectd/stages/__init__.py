"""The journey of a frame, one folder a stage, in order."""
