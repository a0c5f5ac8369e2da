"""jit.trace: the same as the function without it, call after call, whatever the body does."""

import copy
import sys
import threading
import unittest
from unittest import mock

import numpy as np

import ebb.functional as F
from ebb import Parameter, random, tensor
from ebb.jit import TraceError, trace

RNG = np.random.default_rng(17)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def both(function, **options):
    """trace, with and without symbolic."""
    return [trace(symbolic=s, **options)(function) for s in (False, True)]


class Results(unittest.TestCase):
    def test_values_tuples_lists_dicts(self):
        for result in (
            lambda x: x + 1, lambda x: (x + 1,), lambda x: [x + 1, (x * 2, x)], lambda x: {"a": x + 1, "b": [x * x]},
            lambda x: None, lambda x: 3, lambda x: (x + 1, "text"),
        ):
            for f in both(result):
                for _ in range(3):
                    a = draw(2, 3)
                    got, want = f(tensor(a)), result(a)
                    self.assertIs(type(got) in (tuple, list, dict), type(want) in (tuple, list, dict))
                    flat = lambda v: [v] if not isinstance(v, (tuple, list, dict)) else [
                        y for z in (v.values() if isinstance(v, dict) else v) for y in flat(z)]
                    for g, w in zip(flat(got), flat(want)):
                        if isinstance(w, np.ndarray):
                            np.testing.assert_allclose(g.numpy(), w, rtol=1e-6)
                        else:
                            self.assertEqual(g, w)

    def test_arguments_in_structures(self):
        for f in both(lambda xs, d, k=2, *, t: xs[0] * d["a"] + xs[1][0] * k + t):
            for k in (2, 3, 2):
                a, b, c, t = (draw(3) for _ in range(4))
                y = f([tensor(a), (tensor(b),)], {"a": tensor(c)}, k, t=tensor(t))
                np.testing.assert_allclose(y.numpy(), a * c + b * k + t, rtol=1e-5, atol=1e-6)

    def test_the_same_tensor_twice_and_then_two(self):
        p = Parameter([5.0])
        for f in both(lambda x, y: x * 10 + y + p):
            a, b = tensor([1.0]), tensor([2.0])
            self.assertEqual([f(a, a).item(), f(a, b).item(), f(b, a).item(), f(a, a).item()], [16, 17, 26, 16])
            self.assertEqual([f(p, a).item(), f(p, p).item(), f(a, p).item()], [56, 60, 20])

    def test_shapes_and_dtypes_have_recordings_of_their_own(self):
        for f in both(lambda x: (x * 2).sum() + x.shape[0]):
            for data in ([1.0, 2], [[1.0], [3]], [1, 2], [1.0, 2], [1, 2, 3]):
                self.assertEqual(f(tensor(data)).item(), 2 * np.sum(data) + len(data))
            self.assertEqual(f.facts()["n_recordings"], 4)

    def test_flags_are_truths(self):
        self.assertEqual(trace(symbolic=None, record_only=np.False_)(lambda x: x + 1)(tensor([1.0])).item(), 2)

    def test_closure_numbers_may_change(self):
        n = 1.0
        for f in both(lambda x: x * n):
            for n in (1.0, 2.0, 2.0, 3.0):
                self.assertEqual(f(tensor([2.0])).item(), 2 * n)

    def test_random_ops_draw_anew_and_as_without_trace(self):
        def g(x):
            return F.dropout(x, 0.5) + random.uniform(0, 1, (50,))

        x = tensor(np.ones(50, np.float32))
        random.seed(4)
        want = [g(x).numpy() for _ in range(4)]
        for f in both(g):
            random.seed(4)
            for w in want:
                np.testing.assert_array_equal(f(x).numpy(), w)

    def test_arrays_made_inside_are_fed_anew(self):
        data = iter(range(10))
        for f in both(lambda x: x + tensor(np.float32(next(data)))):
            first = f(tensor([0.0])).item()
            self.assertEqual([f(tensor([0.0])).item() for _ in range(3)], [first + 1, first + 2, first + 3])

    def test_methods_and_names(self):
        class Model:
            scale = 3

            @trace
            def times(self, x):
                """Doc."""
                return x * self.scale

        self.assertEqual((Model.times.__name__, Model.times.__doc__), ("times", "Doc."))
        self.assertEqual([Model().times(tensor([2.0])).item() for _ in range(2)], [6, 6])
        self.assertEqual(copy.copy(Model().times)(tensor([2.0])).item(), 6)

    def test_a_trace_within_a_trace_is_a_part_of_it(self):
        inner = trace(lambda x: x * 2)
        for f in both(lambda x: inner(x) + 1):
            self.assertEqual([f(tensor([3.0])).item() for _ in range(3)], [7, 7, 7])


class Reading(unittest.TestCase):
    def test_values_may_be_read_inside(self):
        for f in both(lambda x: x * float((x * 2).sum().item())):
            for a in (1.0, 2.0, 3.0):
                self.assertEqual(f(tensor([a])).item(), 2 * a * a)

    def test_print(self):
        seen = []

        def g(x):
            y = x + 1
            seen.append(str(y))
            return y * 2

        for f in both(g):
            for a in (1.0, 2.0, 3.0):
                self.assertEqual(f(tensor([a])).item(), 2 * a + 2)
        self.assertEqual(seen[2], "Tensor([4.], device=xpux:0)")

    def test_a_branch_by_data_goes_both_ways_where_that_is_asked_for(self):
        function = lambda x: x * 2 if x.sum().item() > 0 else -x
        for f in both(function):
            for a, good in ((1.0, True), (-3.0, False), (2.0, True)):
                if good:
                    self.assertEqual(f(tensor([a])).item(), 2 * a)
                else:
                    with self.assertRaisesRegex(TraceError, "neg .* where the recorded call has ") as told:
                        f(tensor([a]))
                    self.assertIn('on_mismatch="retrace"', told.exception.__notes__[0])
        for f in both(function, on_mismatch="retrace"):
            for a in (1.0, -3.0, 2.0, -1.0, 4.0):
                self.assertEqual(f(tensor([a])).item(), 2 * a if a > 0 else -a)

    def test_values_read_after_the_call(self):
        kept = []
        for f in both(lambda x: kept.append(x * 3) or x + 1):
            for a in (1.0, 2.0, 3.0):
                y = f(tensor([a]))
                self.assertEqual((kept.pop().item(), y.item()), (3 * a, a + 1))


class Failing(unittest.TestCase):
    def test_an_exception_passes_and_the_trace_goes_on(self):
        p = Parameter([1.0])

        def g(x, fail=False):
            p_new = p + x
            p._replace(p_new)
            if fail:
                raise KeyError("mine")
            return p * 2

        for f in both(g):
            p._reset([1.0])
            with self.assertRaisesRegex(KeyError, "mine"):
                f(tensor([1.0]), fail=True)
            self.assertEqual(p.item(), 1)
            self.assertEqual(f(tensor([1.0])).item(), 4)
            with self.assertRaisesRegex(KeyError, "mine"):
                f(tensor([1.0]), fail=True)
            self.assertEqual((p.item(), f(tensor([1.0])).item()), (2, 6))

    def test_an_interrupt_before_the_body_ends_the_call(self):
        f, x = trace(lambda x: x + 1), tensor([1.0])
        with mock.patch("ebb._shape.set_symbolic", side_effect=[KeyboardInterrupt, None]), self.assertRaises(KeyboardInterrupt):
            f(x)
        self.assertEqual([f(x).item() for _ in range(2)], [2, 2])
        self.assertEqual(f.facts()["n_recorded"], 1)

    def test_a_call_that_another_thread_was_faster_than_leaves_that_be(self):
        for fails in (False, True):
            inner, began, go, given = trace(lambda x: x * 2), threading.Event(), threading.Event(), []

            @trace
            def f(x):
                if threading.current_thread() is faster:
                    began.set()
                    go.wait(60)
                    if fails:
                        given.append(0)
                        raise ValueError
                return inner(x) + 1

            def overtaken(*how):
                if threading.current_thread() is not faster:
                    faster.start()
                    began.wait(60)
                return look_through(*how)

            def call():
                try:
                    given.append(f(tensor([1.0])).item())
                except ValueError:
                    pass

            faster, module = threading.Thread(target=call), sys.modules["ebb.jit.trace"]
            look_through = module.look_through
            with mock.patch.object(module, "look_through", overtaken), self.assertRaisesRegex(TraceError, "another thread"):
                f(tensor([1.0]))
            go.set()
            faster.join()
            self.assertEqual((given, f(tensor([1.0])).item()), ([0 if fails else 3], 3))

    def test_what_a_call_that_failed_has_made_has_no_value(self):
        fail, kept = False, []

        def g(x):
            kept.append(x * 2)
            if fail:
                raise KeyError("mine")
            return kept[-1] + 1

        f = trace(symbolic=True)(g)
        f(tensor([1.0]))
        fail = True
        with self.assertRaises(KeyError):
            f(tensor([1.0]))
        self.assertEqual((kept[0].item(), kept[1].shape), (2, (1,)))
        for use in (kept[1].numpy, kept[1].item, lambda: kept[1] + 1, lambda: F.relu(kept[1])):
            with self.assertRaisesRegex(TraceError, "failed"):
                use()

    def test_errors_of_ops_are_one_line(self):
        for f in both(lambda x, y: x + y):
            f(tensor([1.0]), tensor([2.0]))
            with self.assertRaisesRegex(ValueError, "add") as raised:
                f(tensor([1.0, 2.0]), tensor([1.0, 2.0, 3.0]))
            self.assertNotIn("\n", str(raised.exception))
            self.assertEqual(f(tensor([1.0]), tensor([2.0])).item(), 3)

    def test_another_thread_has_to_wait(self):
        import threading

        inner = trace(lambda x: x + 1)
        raised = []

        def other():
            try:
                inner(tensor([1.0]))
            except TraceError as error:
                raised.append(str(error))

        def g(x):
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            return x * 2

        self.assertEqual(trace(g)(tensor([2.0])).item(), 4)
        self.assertIn("another thread", raised[0])

    def test_options_are_checked(self):
        for options, error, text in (
            ({"budget": "11 apples"}, ValueError, "apples"), ({"memory": "little"}, ValueError, "little"),
            ({"memory": "budget"}, ValueError, "budget"), ({"opt_level": -1}, ValueError, "opt_level is -1"), ({"sublinear_memory_config": 3}, TypeError, "int"),
        ):
            with self.assertRaisesRegex(error, text):
                trace(**options)(lambda x: x)(tensor([1.0]))
        with self.assertRaisesRegex(TraceError, "nothing was called"):
            trace(lambda x: x).plan()


if __name__ == "__main__":
    unittest.main()
