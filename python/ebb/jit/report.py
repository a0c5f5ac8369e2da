"""Reports of plans, to a file or as text."""

import os
import tempfile

_KINDS = {".html": "html", ".json": "json", ".md": "markdown", ".txt": "text"}


def report(core, program, path, format):
    """Writes it, in the format that the path's ending names unless one is given; without a path, the text."""
    if path is not None:
        path = os.fspath(path)
        format = format or _KINDS.get(os.path.splitext(path)[1].lower())
        if format is None:
            raise ValueError(f"report: {path}: its ending names no format: one of {' '.join(_KINDS)}, or give format")
        return core.report_write(program, format, path)
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "report")
        core.report_write(program, format or "text", place)
        with open(place, encoding="utf-8") as file:
            return file.read()
