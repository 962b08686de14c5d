"""`python -m clausal` is the command line, where its script is not on the path."""

from clausal.cli import main

main()
