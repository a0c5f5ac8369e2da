"""Arguments of a traced function are the caller's tensors, whatever it does to them."""

import unittest

from ebb import Parameter, tensor
from ebb.jit import partial_trace, trace


def both(function):
    """The function itself, and traced in each way."""
    return [function, trace(function), trace(symbolic=True)(function), partial_trace(function)]


class Arguments(unittest.TestCase):
    def test_what_is_done_to_arguments_is_done(self):
        w = tensor([0.0])

        def grow(x, h):
            h[...] = h + x
            return h * 1

        def alike(x, y):
            x += 1
            return y * 1

        def known(x):
            x += 1
            return w * 1

        def mean(averages, params):
            for average, param in zip(averages, params):
                average[...] = average * 0.5 + param

        for f in both(grow):
            h = tensor([0.0])
            self.assertEqual([f(tensor([1.0]), h).item() for _ in range(3)], [1, 2, 3])
            self.assertEqual(h.item(), 3)
        for f in both(alike):
            h = tensor([0.0])
            self.assertEqual([f(h, h).item() for _ in range(3)], [1, 2, 3])
        for f in both(known):
            w[...] = 0
            self.assertEqual([f(w).item() for _ in range(3)], [1, 2, 3])
        for f in both(mean):
            averages, params = [tensor([0.0]), tensor([1.0])], [Parameter([1.0]), Parameter([2.0])]
            for _ in range(4):
                f(averages, params)
            self.assertEqual([a.item() for a in averages], [1.875, 3.8125])

    def test_a_call_that_fails_leaves_its_arguments(self):
        def fail(x):
            x += 1
            raise KeyError

        for f in both(fail)[1:]:
            x = tensor([1.0])
            self.assertRaises(KeyError, f, x)
            self.assertEqual(x.item(), 1)

    def test_the_body_has_the_callers_tensors(self):
        w = Parameter([1.0])
        for f in both(lambda x, xs: (x is w, xs)):
            xs = [w]
            self.assertIs(f(w, xs)[1], xs)
            self.assertIs(f(w, xs)[0], True)


if __name__ == "__main__":
    unittest.main()
