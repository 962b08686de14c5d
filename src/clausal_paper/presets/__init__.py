"""The settings of the rows of the tables, one TOML file for each preset; the entry point ``clausal.presets`` names us."""
