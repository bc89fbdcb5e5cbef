"""inspectd: a streaming industrial-inspection pipeline daemon."""

__version__ = "0.1.0"
