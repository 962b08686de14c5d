"""The settings that the rows of the tables are trained by, a TOML file each; an entry point names this package."""
