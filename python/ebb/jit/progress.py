"""How far a search for a plan is: on the last line of a terminal, elsewhere by a line now and then."""

import sys
import time

BAR_PERIOD, LINE_PERIOD = 0.1, 10  # seconds


class Line:
    """on: whether it is shown; None: where stderr is a terminal."""

    def __init__(self, on):
        self._on, self._shown, self._next = on, False, 0

    def __call__(self, aim, done, total, best, least):
        """Ratios of time that is added: of the best plan so far, and at least; -1: not known."""
        terminal, now = bool(sys.stderr and sys.stderr.isatty()), time.monotonic()
        if not sys.stderr or not (terminal if self._on is None else self._on) or now < self._next:
            return
        added = f", +{100 * best:.1f} % of time" if best >= 0 else ""
        bound = f" (at least +{100 * least:.1f} %)" if added and least >= 0 else ""
        text = f"planning: {aim}, {min(done, total)} of {total} candidates{added}{bound}"
        self._write(f"\r\x1b[K{text}" if terminal else f"{text}\n")
        self._shown, self._next = terminal, now + (BAR_PERIOD if terminal else LINE_PERIOD)

    def clear(self):
        if self._shown:
            self._write("\r\x1b[K")
        self._shown, self._next = False, 0

    @staticmethod
    def _write(text):
        sys.stderr.write(text)
        sys.stderr.flush()
