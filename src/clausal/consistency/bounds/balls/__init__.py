"""Balls, spheres and discs: spectral norms for one form, and the Lagrangian dual for several."""
