"""Load on the service: a real server, and a client in a process of its own."""
