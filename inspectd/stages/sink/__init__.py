"""Who is told? Verdicts leave for the PLC."""
