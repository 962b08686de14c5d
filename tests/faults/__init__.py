"""Faults at every step of a command: ``make faults``.

A step is a system call that changes or reads a file of the command's. The kernel hands each one to this program before
it is done (``watching``), whoever asks for it: Python, torch, pyarrow, DuckDB or safetensors. So a command can be
killed, a call refused or a second command run at exactly that moment (``faults``), and what a power cut would leave is
known (``power_cut``). ``commands`` says how each command is started, and how what it left is finished and compared.
"""
