"""Races: short trainings on valid that choose the settings of a long one, within a budget of work."""
