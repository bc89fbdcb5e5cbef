"""What a station file may say, and the reading of it."""
