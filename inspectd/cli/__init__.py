"""The command line, one module a command: parses and calls, decides nothing."""
