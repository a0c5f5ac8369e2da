"""How far a search for a plan is, on the last line of a terminal."""

import sys


class Line:
    """on: whether it is shown; None: where stderr is a terminal."""

    def __init__(self, on):
        self._on, self._shown = on, False

    def __call__(self, aim, done, total, best, least):
        """Ratios of time that is added: of the best plan so far, and at least; -1: not known."""
        if not (sys.stderr and sys.stderr.isatty() if self._on is None else self._on):
            return
        added = f", +{100 * best:.1f} % of time" if best >= 0 else ""
        bound = f" (at least +{100 * least:.1f} %)" if added and least >= 0 else ""
        self._write(f"\r\x1b[Kplanning: {aim}, {min(done, total)} of {total} candidates{added}{bound}")
        self._shown = True

    def clear(self):
        if self._shown:
            self._write("\r\x1b[K")
        self._shown = False

    @staticmethod
    def _write(text):
        sys.stderr.write(text)
        sys.stderr.flush()
