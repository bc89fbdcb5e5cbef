"""What is remembered of every part: events, pictures, retention."""
