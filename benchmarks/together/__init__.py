"""Training by several processes beside one: seconds of a pass, memory of a process, bytes, and accuracy."""
