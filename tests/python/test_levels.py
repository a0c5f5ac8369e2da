"""What trace takes for an identity of real numbers, by the opt_level that is asked for; and programs without it."""

import io
import unittest

import numpy as np

import ebb.functional as F
from ebb import Parameter, tensor
from ebb.autodiff import GradManager
from ebb.jit import trace
from ebb.utils import comp_graph_tools


def quotient(x):
    y = 2.0 * x
    return y / y


def log_sum(x, y):
    return F.log(F.exp(x) + F.exp(y))


def log_exp(x):
    return F.log(F.exp(x))


class Levels(unittest.TestCase):
    def test_a_quotient_of_one_value_is_one_where_a_level_was_asked_for(self):
        zero = tensor(0.0)
        for level, want in ((None, np.nan), (0, np.nan), (1, 1), (2, 1), (3, 1)):
            options = {} if level is None else {"opt_level": level}
            f = trace(quotient, symbolic=True, capture_as_const=True, **options)
            for _ in range(2):
                np.testing.assert_equal(f(zero).item(), want, f"level {level}")

    def test_a_sum_of_exponentials_does_not_overflow(self):
        big, zero = tensor(1e4), tensor(0.0)
        exact, stable = (trace(log_sum, symbolic=True, opt_level=level) for level in (0, 1))
        self.assertEqual(exact(big, zero).item(), np.inf)
        self.assertEqual(stable(big, zero).item(), 1e4)
        rng = np.random.default_rng(1)
        x, y = rng.standard_normal((3, 1, 5)), rng.standard_normal((4, 1))  # broadcast together
        np.testing.assert_allclose(stable(tensor(x), tensor(y)).numpy(), np.logaddexp(x, y), rtol=1e-6)

    def test_a_logarithm_of_an_exponential_is_left_out(self):
        counts = []
        for level in (0, 1):
            f = trace(log_exp, symbolic=True, capture_as_const=True, opt_level=level)
            self.assertAlmostEqual(f(tensor(1.0)).item(), 1, 6)
            file = io.BytesIO()
            f.dump(file, optimize_for_inference=False)
            file.seek(0)
            counts.append([op.type for op in comp_graph_tools.get_oprs_seq(comp_graph_tools.load_graph(file).output_vars_list)])
        self.assertEqual(len(counts[0]) - len(counts[1]), 2, counts)

    def test_gradients_are_of_what_is_there(self):
        for level, want in ((0, [0.0, np.nan]), (1, [0.0, 0.0])):
            x = Parameter([0.0, 200.0])  # exp(200) is infinite
            gm = GradManager().attach([x])

            @trace(symbolic=True, opt_level=level)
            def step():
                with gm:
                    gm.backward((F.log(F.exp(x)) - x).sum())
                return x.grad

            np.testing.assert_array_equal(step().numpy(), want)

    def test_a_value_that_became_another_can_be_read_and_returned(self):
        @trace(symbolic=True, opt_level=1)
        def f(x):
            e = F.exp(x)
            y = F.log(e)
            seen.append(y.numpy())
            return e, y, y / y, y * 2

        seen, x = [], np.array([[0.5, -1.25]], np.float32)
        for _ in range(2):
            e, y, one, twice = (r.numpy() for r in f(tensor(x)))
            np.testing.assert_allclose(e, np.exp(x), rtol=1e-6)
            for got, want in ((y, x), (seen[-1], x), (one, np.ones_like(x)), (twice, 2 * x)):
                np.testing.assert_array_equal(got, want)


if __name__ == "__main__":
    unittest.main()
