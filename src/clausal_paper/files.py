"""Files as the library reads and writes them."""

from clausal.run.files import explained_os_errors, read_json, write_json, write_text

__all__ = ["explained_os_errors", "read_json", "write_json", "write_text"]
