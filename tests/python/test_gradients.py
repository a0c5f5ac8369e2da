"""GradManager, and gradients of what functional composes against finite differences."""

import unittest

import numpy as np

import ebb.functional as F
from ebb import Parameter, random, tensor
from ebb.autodiff import GradManager
from ebb.jit import partial_trace

RNG = np.random.default_rng(11)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def away(*shape):
    """Draws that are not near 0, where some slopes change."""
    x = draw(*shape)
    return x + np.copysign(np.float32(0.1), x)


def gradient(function, *arrays):
    """Of a scalar function by its operands."""
    xs = [Parameter(a) for a in arrays]
    gm = GradManager().attach(xs)
    with gm:
        y = function(*xs)
        gm.backward(y)
    return [None if x.grad is None else x.grad.numpy() for x in xs]


def differences(function, arrays, i, step=1e-2):
    out = np.zeros(arrays[i].shape)
    for at in np.ndindex(arrays[i].shape):
        ys = []
        for sign in (1, -1):
            moved = [a.copy() for a in arrays]
            moved[i][at] += sign * step
            ys.append(function(*map(tensor, moved)).item())
        out[at] = (ys[0] - ys[1]) / (2 * step)
    return out


class Differences(unittest.TestCase):
    def check(self, function, *arrays, atol=2e-2):
        weights = tensor(draw(*function(*map(tensor, arrays)).shape))
        scalar = lambda *xs: (function(*xs) * weights).sum()
        for i, g in enumerate(gradient(scalar, *arrays)):
            np.testing.assert_allclose(g, differences(scalar, arrays, i), rtol=2e-2, atol=atol)

    def test_reshape_and_transpose_through_rank_4(self):
        self.check(lambda x: x.reshape(2, 3, 2, 2).reshape(4, 6), draw(24))
        self.check(lambda x: x.transpose(0, 2, 3, 1).reshape(2, -1), draw(2, 3, 2, 2))

    def test_repeats_of_as_many_axes_as_there_can_be(self):
        shape = (2, 1, 2, 1, 1, 2, 1, 2)
        for axis in range(8):
            c = np.arange(48, dtype=np.float32).reshape(*shape[:axis], 3 * shape[axis], *shape[axis + 1 :])
            got, = gradient(lambda x: (F.repeat(x, 3, axis) * tensor(c)).sum(), np.ones(shape, np.float32))
            np.testing.assert_array_equal(got, c.reshape(*shape[: axis + 1], 3, *shape[axis + 1 :]).sum(axis + 1))

    def test_indexing(self):
        self.check(lambda x: x[1:, ::-2] * 2 + x[0, 1], draw(3, 4))
        self.check(lambda x: x[tensor([0, 2, 0])], draw(3, 2))
        self.check(lambda x: x[:, tensor([1, 1]), None], draw(2, 3))
        self.check(lambda x: F.gather(x, 1, tensor([[0, -1, 0], [2, 2, 1]])), draw(2, 3))
        self.check(lambda x: F.indexing_one_hot(x, tensor([2, 0])), draw(2, 3))

    def test_products_and_running_sums(self):
        self.check(lambda x: F.prod(x, 1), away(3, 4))
        self.check(lambda x: F.cumsum(x, 0), draw(4, 2))
        with_zero = np.array([2.0, 0.0, 3.0], np.float32)
        np.testing.assert_array_equal(gradient(F.prod, with_zero)[0], [0, 6, 0])

    def test_order(self):
        apart = RNG.permutation(12).reshape(3, 4).astype(np.float32)
        self.check(lambda x: F.sort(x)[0], apart)
        self.check(lambda x: F.topk(x, 2, descending=True)[0], apart)

    def test_assignment(self):
        def assigned(x, y):
            z = x * 2
            z[1, ::2] = y * 3
            z += 1
            return z * z

        self.check(assigned, draw(2, 3), draw(2))

    def test_losses(self):
        labels = tensor([1, 0, 3])
        self.check(lambda x: F.loss.cross_entropy(x, labels), draw(3, 4))
        self.check(lambda x: F.loss.cross_entropy(x, labels, label_smooth=0.2), draw(3, 4))
        self.check(lambda x: F.loss.binary_cross_entropy(x, tensor([1.0, 0, 1])), draw(3))
        self.check(lambda x: F.softmax(x, 0), draw(3, 4))

    def test_norms(self):
        self.check(lambda x, g, b: F.batch_norm(x, weight=g, bias=b, training=True), draw(5, 3), draw(3), draw(3))
        self.check(lambda x, g, b: F.layer_norm(x, 4, True, g, b), draw(3, 4), draw(4), draw(4))
        self.check(lambda x: F.normalize(x, axis=1) + F.var(x, 1, True), draw(2, 4))

    def test_products(self):
        self.check(lambda a, b: F.matmul(a, b), draw(2, 2, 3), draw(3, 2))
        self.check(lambda a, b: F.matmul(a, b, transpose_b=True), draw(2, 2, 3), draw(2, 4, 3))
        self.check(lambda a, w, b: F.linear(a, w, b), draw(2, 2, 3), draw(4, 3), draw(4))

    def test_others(self):
        self.check(lambda x: F.max(x, 1) + F.leaky_relu(x, 0.1).sum(1), away(3, 4))
        self.check(lambda x: F.pad(x, ((1, 1), (0, 2)), constant_value=2), draw(2, 2))
        self.check(lambda x: F.where(x > 0, x * x, x), away(6))
        self.check(lambda x, w: F.prelu(x, w), away(2, 3, 1, 2), draw(3))


class Manager(unittest.TestCase):
    def test_gradients_add_up_until_they_are_cleared(self):
        w, gm = Parameter([2.0]), GradManager()
        gm.attach(w)
        for n in (1, 2):
            with gm:
                gm.backward(w * w)
            self.assertEqual(w.grad.item(), 4.0 * n)
        w.grad = None
        with gm:
            gm.backward([w * 3, w * 5], [tensor([1.0]), tensor([10.0])])
        self.assertEqual(w.grad.item(), 53)

    def test_ones_where_no_gradient_is_given(self):
        self.assertEqual(gradient(lambda x: x * 3, draw(2, 2))[0].tolist(), [[3, 3], [3, 3]])

    def test_what_does_not_depend_has_none(self):
        self.assertEqual(gradient(lambda x, y: x * 2 + y.detach(), draw(1), draw(1))[1], None)

    def test_record_release_and_their_errors(self):
        w = Parameter([1.0])
        gm = GradManager().attach(w)
        with self.assertRaisesRegex(RuntimeError, "record"):
            gm.backward(w * 2)
        gm.record()
        with self.assertRaisesRegex(RuntimeError, "already"):
            gm.record()
        gm.release()
        gm.record()
        gm.backward(w * 2)
        with self.assertRaisesRegex(RuntimeError, "record"):
            gm.backward(w * 2)
        self.assertEqual(w.grad.item(), 2)
        with self.assertRaisesRegex(TypeError, "tensors"):
            gm.attach([1])
        with gm, self.assertRaisesRegex(TypeError, "float"):
            gm.backward(1.0)
        with gm, self.assertRaisesRegex(ValueError, "2 tensors and 1"):
            gm.backward([w, w], [None])

    def test_nothing_to_do(self):
        w = Parameter([1.0])
        gm = GradManager().attach(w)
        with gm:
            gm.backward()
        with gm:
            gm.backward([])
        self.assertIsNone(w.grad)

    def test_callbacks_change_gradients(self):
        seen = []

        def double(tensor, grad):
            seen.append(tensor)
            return grad * 2

        w = Parameter([1.0])
        gm = GradManager().attach([w], callbacks=[double, double])
        with gm:
            gm.backward(w * 3)
        self.assertEqual(w.grad.item(), 12)
        self.assertIs(seen[0], w)

    def test_what_is_drawn_again_is_drawn_from_the_seed_of_then(self):
        w = Parameter(np.ones(64, np.float32))
        gm = GradManager().attach([w])
        drop = lambda w: F.dropout(w * 2, 0.5)
        for dropped in (drop, partial_trace(drop)):
            w.grad = None
            random.seed(3)
            with gm:
                y = dropped(w)
                random.seed(7)
                gm.backward(y.sum())
            np.testing.assert_array_equal(y.numpy() != 0, w.grad.numpy() != 0)
            self.assertEqual(random.get_rng_state()["seed"], 7)
        with gm:
            y = F.dropout(w * 2, 0.5)
            random.seed(8)
            y = y * F.dropout(w, 0.5)
            with self.assertRaisesRegex(ValueError, "seed was changed"):
                gm.backward(y.sum())

    def test_attached_while_recording(self):
        w, gm = Parameter([3.0]), GradManager()
        with gm:
            gm.attach(w)
            gm.backward(w * w)
        self.assertEqual(w.grad.item(), 6)

    def test_gradients_of_what_is_no_parameter(self):
        x, w = tensor([3.0]), tensor([2.0])
        gm = GradManager().attach([x])
        with gm:
            y = x * w
            gm.attach(y)  # in the middle
            z = y * y
            gm.backward(z)
        self.assertEqual((x.grad.item(), y.grad.item()), (24, 12))

    def test_an_update_in_place_leaves_what_was_attached(self):
        w = Parameter([3.0])
        gm = GradManager().attach(w)
        with gm:
            y = w * w
            w += 1
            gm.backward(y)
        self.assertEqual((w.grad.item(), w.item()), (6, 4))

    def test_nested_ones_give_second_derivatives(self):
        x = Parameter([3.0])
        outer, inner = GradManager().attach(x), GradManager().attach(x)
        with outer:
            with inner:
                y = x * x * x
                inner.backward(y)
            first, x.grad = x.grad, None
            outer.backward(first)
        self.assertEqual((first.item(), x.grad.item()), (27, 18))

    def test_two_at_once(self):
        a, b = Parameter([2.0]), Parameter([5.0])
        one, two = GradManager().attach(a), GradManager().attach(b)
        with one | two:
            one.backward(a * b)
            two.backward(a * b * b)
        self.assertEqual((a.grad.item(), b.grad.item()), (5, 20))

    def test_dropped_tensors_are_forgotten(self):
        gm, w = GradManager(), Parameter([2.0])
        gm.attach([w, Parameter([1.0])])
        with gm:
            gm.backward(w * 2)
        self.assertEqual(len(gm.attached_tensors()), 1)

    def test_an_exception_ends_the_record(self):
        w = Parameter([2.0])
        gm = GradManager().attach(w)
        with self.assertRaises(ZeroDivisionError), gm:
            w * 2
            1 / 0
        with gm:
            gm.backward(w * 2)
        self.assertEqual(w.grad.item(), 2)

    def test_a_record_that_cannot_begin_has_not_begun(self):
        w, empty = Parameter([2.0]), Parameter.__new__(Parameter)
        one, two = GradManager().attach(w), GradManager().attach([w, empty])
        for begin in (lambda: two, lambda: one | two):
            with self.assertRaisesRegex(ValueError, "not given a value"), begin():
                pass
        with one:
            one.backward(w * 2)
        self.assertEqual(w.grad.item(), 2)
        with self.assertRaisesRegex(ValueError, "not given a value"):  # and not "already recording"
            two.record()


if __name__ == "__main__":
    unittest.main()
