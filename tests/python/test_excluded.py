"""Regions that a trace leaves out."""

import unittest

from ebb import tensor
from ebb.jit import exclude_from_trace, trace


def both(function, **options):
    """trace, with and without symbolic."""
    return [trace(symbolic=s, **options)(function) for s in (False, True)]


class Excluding(unittest.TestCase):
    def test_the_sample_of_the_documents(self):
        i = 0

        @trace
        def f(x):
            x += 1
            with exclude_from_trace():
                if i % 2 == 0:
                    x += 1
            return x

        got = []
        for i in range(3):
            got.append(f(tensor([1])))
        self.assertEqual([y.item() for y in got], [3, 2, 3])
        self.assertEqual(str(got[0]), "Tensor([3], dtype=int32, device=xpux:0)")

    def test_what_is_excluded_may_do_anything(self):
        calls = []

        def g(x):
            y = x * 2
            with exclude_from_trace():
                calls.append(y.item())
                z = y + len(calls)
            return z * 10

        for f in both(g):
            calls.clear()
            self.assertEqual([f(tensor([a])).item() for a in (1.0, 2.0, 3.0)], [30, 60, 90])
            self.assertEqual(calls, [2, 4, 6])

    def test_an_exception_in_there_ends_the_call(self):
        fail = False

        def g(x):
            y = x * 2
            with exclude_from_trace():
                if fail:
                    raise KeyError("mine")
            return y + 1

        for f in both(g):
            for fail in (False, True, False, True, False):
                if fail:
                    with self.assertRaisesRegex(KeyError, "mine"):
                        f(tensor([1.0]))
                else:
                    self.assertEqual(f(tensor([1.0])).item(), 3)

    def test_an_exception_that_the_body_catches_ends_the_region_alone(self):
        def g(x):
            y = x * 2
            try:
                with exclude_from_trace():
                    raise KeyError("mine")
            except KeyError:
                pass
            return y + 1

        for f in both(g):
            self.assertEqual([f(tensor([a])).item() for a in (1.0, 2.0, 3.0)], [3, 5, 7])
            self.assertEqual(f.facts()["n_recorded"], 1)
            self.assertIn("add", f.text(1))

    def test_outside_of_a_trace_it_does_nothing(self):
        with exclude_from_trace():
            self.assertEqual((tensor(1) + 1).item(), 2)


if __name__ == "__main__":
    unittest.main()
