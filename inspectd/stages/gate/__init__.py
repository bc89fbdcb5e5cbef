"""Is this picture fit to be judged?"""
