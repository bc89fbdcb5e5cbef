"""The house the stages live in: births, deaths, signals, the loop of every process."""
