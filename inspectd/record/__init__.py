"""What is remembered of every part: apart from the verdict, so that it can never delay one."""
