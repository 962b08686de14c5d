"""The tables and the figure of Minervini et al. (2017) made again, and tables beyond them, by public names alone."""
