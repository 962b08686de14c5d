"""Rules as others write them: one file per format, behind one registry that reads by name or by detection."""

from clausal.logic.formats.registry import (
    FORMATS,
    RuleFormat,
    detect_format,
    format_of_target,
    print_rules,
    read_clauses,
    read_rules,
    write_rules,
)

__all__ = [
    "FORMATS",
    "RuleFormat",
    "detect_format",
    "format_of_target",
    "print_rules",
    "read_clauses",
    "read_rules",
    "write_rules",
]
