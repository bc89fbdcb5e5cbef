"""Is the part good?"""
