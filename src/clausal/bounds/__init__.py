"""The mathematics of closed forms and certificates: largest values over boxes, balls, discs and distances."""
