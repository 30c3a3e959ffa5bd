from typing import Final

__version__: Final[str]

def error_kinds() -> list[tuple[str, list[str]]]: ...
