"""Faults done to a running line on purpose, and the audit of what the PLC saw of them."""
