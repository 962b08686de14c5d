"""Balls, spheres and discs: spectral norms for one form, phases for complex numbers, and the Lagrangian dual."""
