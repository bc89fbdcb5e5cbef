"""The contract with the PLC: one register map, and a simulator that speaks it."""
