"""What people say of verdicts afterwards: right, false call, escape; kept beside the record."""
