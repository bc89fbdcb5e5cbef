"""Training and export of the detectors that inspectd judges with.

The only package beside `inspectd.stages.infer.paddle` that imports paddle. The daemon never imports
it.
"""
