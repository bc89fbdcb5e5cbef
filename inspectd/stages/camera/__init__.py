"""Where frames are born."""
