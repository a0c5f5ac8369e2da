"""Files of traced functions that run in 16 bits (enable_io16xc32), and those that may not."""

import io
import unittest

import numpy as np

import ebb.functional as F
import ebb.optimizer as optim
from ebb import Parameter, tensor
from ebb.autodiff import GradManager
from ebb.jit import load, trace


def random(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


class Low(unittest.TestCase):
    def test_a_file_of_16_bits(self):
        """enable_io16xc32: near the call's outputs and not equal to them, in less memory; weights are as they were."""
        w = tensor(random(32, 32))

        @trace(capture_as_const=True)
        def f(x):
            for _ in range(4):
                x = F.relu(x @ w)
            return x

        x = tensor(random(1 << 18, 32))  # products of 16 bits hold parts of 16 MiB
        want = f(x).numpy()
        whole, low = io.BytesIO(), io.BytesIO()
        f.dump(whole)
        f.dump(low, enable_io16xc32=True)
        plain = io.BytesIO()
        f.dump(plain, enable_io16xc32=True, optimize_for_inference=False)
        plain.seek(0)
        self.assertEqual(load(plain)(x).numpy().tobytes(), f(x).numpy().tobytes())
        for flags in ({"enable_nchw44": True}, {"enable_ioc16": True}, {"enable_io16xc32": True, "dump_format": "ONNX"}):
            f.dump(io.BytesIO(), optimize_for_inference=False, **flags)
        with self.assertRaisesRegex(ValueError, "enable_io16xc32: ONNX"):
            f.dump(io.BytesIO(), dump_format="ONNX", enable_io16xc32=True)
        whole.seek(0), low.seek(0)
        whole, low = load(whole), load(low)
        np.testing.assert_array_equal(whole(x).numpy(), want)
        got = low(x).numpy().astype(np.float32)
        self.assertFalse(np.array_equal(got, want))
        np.testing.assert_allclose(got, want, rtol=0.02, atol=0.02 * np.abs(want).max())
        self.assertLess(low.plan()["arena_bytes"], whole.plan()["arena_bytes"])
        for array in low.state_dict().values():
            np.testing.assert_array_equal(array, w.numpy())

    def test_a_step_that_trains_has_no_file_of_16_bits(self):
        w = Parameter(random(4, 4))
        gm, opt = GradManager().attach([w]), optim.SGD([w], lr=0.1)

        @trace(capture_as_const=True)
        def step(x):
            with gm:
                loss = (x @ w).mean()
                gm.backward(loss)
            opt.step().clear_grad()
            return loss

        @trace(capture_as_const=True)
        def gradients(x):
            with gm:
                gm.backward((x @ w).mean())
            found, w.grad = w.grad, None
            return found

        def updates(make):
            opt = make([w])

            @trace(capture_as_const=True)
            def update(x):  # by a gradient that comes from elsewhere
                w.grad = x + 1
                opt.step().clear_grad()
                return x * 2

            return update

        for f, x in ((step, random(2, 4)), (gradients, random(2, 4)), (updates(lambda p: optim.SGD(p, lr=0.1)), random(4, 4)),
                     (updates(lambda p: optim.SGD(p, lr=0.1, momentum=0.9)), random(4, 4)),
                     (updates(lambda p: optim.Adam(p, lr=0.1)), random(4, 4))):
            f(tensor(x))
            with self.assertRaisesRegex(ValueError, "enable_io16xc32: the graph trains") as raised:
                f.dump(io.BytesIO(), enable_io16xc32=True)
            self.assertNotIn("\n", str(raised.exception))
            f.dump(io.BytesIO())
            f.dump(io.BytesIO(), enable_io16xc32=True, optimize_for_inference=False)

    def test_what_is_kept_between_calls_may_have_16_bits(self):
        past = tensor(np.zeros((4, 4), np.float32))

        @trace(capture_as_const=True)
        def f(x):
            past[0] = x[0]
            return past * 2

        f(tensor(random(2, 4)))
        f.dump(io.BytesIO(), enable_io16xc32=True)


if __name__ == "__main__":
    unittest.main()
