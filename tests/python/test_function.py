"""Functions with gradients of their own."""

import copy
import unittest
import weakref

import numpy as np

import ebb.functional as F
from ebb import Parameter, tensor
from ebb.autodiff import Function, GradManager
from ebb.jit import trace


class Scaled(Function):
    """Twice its input, with a gradient five times as large as the true one."""

    def forward(self, x):
        return x * 2

    def backward(self, dy):
        return dy * 10


class Product(Function):
    def forward(self, a, b):
        self.save_for_backward(a, b)
        return a * b, a + b

    def backward(self, d_product, d_sum):
        a, b = self.saved_tensors
        return d_product * b, None if d_sum is None else d_sum * 7


def gradients(f, *arrays):
    xs = [Parameter(np.asarray(a, np.float32)) for a in arrays]
    gm = GradManager().attach(xs)
    with gm:
        gm.backward(f(*xs))
    return [None if x.grad is None else x.grad.numpy().tolist() for x in xs]


class Functions(unittest.TestCase):
    def test_the_given_gradient_is_used(self):
        self.assertEqual(gradients(lambda x: Scaled()(x).sum(), [1.0, 2.0]), [[10, 10]])
        self.assertEqual(gradients(lambda x: (Scaled()(x * 3) * x).sum(), [1.0, 2.0]), [[36, 72]])

    def test_calls_one_after_the_other(self):
        self.assertEqual(gradients(lambda x: Scaled()(Scaled()(x) + x).sum(), [1.0]), [[110]])

    def test_several_inputs_and_results(self):
        def both(a, b):
            product, total = Product()(a, b)
            return (product + total).sum()

        self.assertEqual(gradients(both, [2.0], [3.0]), [[3], [7]])
        self.assertEqual(gradients(lambda a, b: Product()(a, b)[0].sum(), [2.0], [3.0]), [[3], None])

    def test_a_result_that_is_an_input(self):
        class Same(Function):
            def forward(self, x):
                return x

            def backward(self, dy):
                return None

        self.assertEqual(gradients(lambda x: (Same()(x * 3) + x * 4).sum(), [1.0]), [[4]])

    def test_an_outer_manager_sees_the_backward(self):
        class Cube(Function):
            def forward(self, x):
                self.x = x
                return x**3

            def backward(self, dy):
                return dy * 3 * self.x**2

        x = tensor([2.0])
        outer, inner = GradManager().attach([x]), GradManager().attach([x])
        with outer:
            with inner:
                inner.backward(Cube()(x))
            first, x.grad = x.grad, None
            self.assertEqual(first.item(), 12)
            outer.backward(first)
        self.assertEqual(x.grad.item(), 12)  # 6 x

    def test_straight_through_in_a_trace_has_the_same_bits(self):
        class Rounded(Function):
            def forward(self, x):
                return F.round(x * 8) / 8

            def backward(self, dy):
                return dy

        def run(make):
            w = Parameter(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4))
            gm = GradManager().attach([w])

            def step(x):
                with gm:
                    loss = (F.matmul(x, Rounded()(w)) ** 2).mean()
                    gm.backward(loss)
                w._replace(w - w.grad * 0.1)
                w.grad = None
                return loss

            step = make(step)
            rng = np.random.default_rng(1)
            losses = [step(tensor(rng.standard_normal((2, 3)).astype(np.float32))).numpy() for _ in range(4)]
            return w.numpy().tobytes(), [loss.tobytes() for loss in losses]

        eager = run(lambda f: f)
        for symbolic in (False, True):
            self.assertEqual(run(lambda f: trace(f, symbolic=symbolic)), eager)

    def test_what_is_no_tensor_is_refused(self):
        with self.assertRaisesRegex(TypeError, "expect type Tensor as inputs"):
            Scaled()(1.0)

    def test_wrong_number_of_gradients(self):
        class Wrong(Function):
            def forward(self, a):
                return a

            def backward(self, dy):
                return dy, dy

        with self.assertRaisesRegex(ValueError, "2 gradients for 1 inputs"):
            gradients(lambda x: Wrong()(x), [1.0])

    def test_a_copy_leaves_what_was_saved(self):
        function = Product()
        function(tensor([1.0]), tensor([2.0]))
        self.assertEqual(copy.deepcopy(function).saved_tensors, ())


class Visibility(unittest.TestCase):
    """Who sees the ops of a backward: managers outside of it, not those beside it or within."""

    def setUp(self):
        self.x = tensor(np.linspace(0.1, 1, 5, dtype=np.float32))
        self.a, self.b = GradManager().attach([self.x]), GradManager().attach([self.x])
        self.first = -np.sin(self.x.numpy())

    def second(self, first, second):
        first.backward(F.cos(self.x))
        second.backward(self.x.grad)
        return self.x.grad.numpy()

    def test_beside(self):
        with self.a | self.b:
            np.testing.assert_allclose(self.second(self.b, self.a), self.first, rtol=1e-5)

    def test_within(self):
        with self.b:
            with self.a:
                np.testing.assert_allclose(self.second(self.b, self.a), self.first, rtol=1e-5)

    def test_outside(self):
        with self.b:
            with self.a:
                got = self.second(self.a, self.b)
        np.testing.assert_allclose(got, self.first - np.cos(self.x.numpy()), rtol=1e-5)

    def test_a_tensor_that_is_attached_for_one_step_is_freed(self):
        w, seen = Parameter(2.0), []
        gm = GradManager().attach(w)
        for i in range(2):
            with gm:
                x = tensor(float(i))
                ref = weakref.ref(x)
                gm.attach(x, callbacks=lambda t, g: seen.append(t is ref()) or g)
                gm.backward(x * w)
            del x
            self.assertIsNone(ref())
        self.assertEqual((seen, w.grad.item()), ([True, True], 1))


if __name__ == "__main__":
    unittest.main()
