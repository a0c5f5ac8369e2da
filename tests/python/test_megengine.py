"""Programs as MegEngine's users write them: what its documents say of arguments, files, states and flags."""

import io
import unittest
import warnings

import numpy as np

import ebb.functional as F
import ebb.module as M
import ebb.optimizer as optim
from ebb import Parameter, Tensor, tensor
from ebb.autodiff import GradManager
from ebb.jit import TraceError, trace
from ebb.utils.comp_graph_tools import GraphInference


class Scaled(M.Module):
    def __init__(self):
        super().__init__()
        self.a = Parameter([1.25], dtype=np.float32)

    def forward(self, x):
        return x * self.a


class Traces(unittest.TestCase):
    def test_an_argument_is_the_callers_tensor(self):
        """What is attached outside has its gradient inside, by the argument's name; and its class."""
        for symbolic in (False, True):
            x, y = Parameter([1.0, 2.0]), tensor([3.0, 4.0])
            x.name = "x"
            gm = GradManager().attach(x)

            @trace(symbolic=symbolic, capture_as_const=True)
            def f(x, y):
                self.assertIsInstance(x, Parameter)
                self.assertEqual(x.name, "x")
                x.grad = None
                with gm:
                    gm.backward(x * y, F.ones_like(y))
                return x * y, x.grad

            for _ in range(3):
                z, dx = f(x, y)
                self.assertEqual((z.tolist(), dx.tolist(), x.grad.tolist()), ([3, 8], [3, 4], [3, 4]))
            file = io.BytesIO()
            f.dump(file, optimize_for_inference=False)
            file.seek(0)
            found = list(GraphInference(file).run(x, y).values())
            np.testing.assert_array_equal(found[0], [3, 8])
            np.testing.assert_array_equal(found[1], [3, 4])

    def test_an_argument_that_is_attached_outside_and_inside_is_attached_once(self):
        for symbolic in (False, True):
            x, told = tensor([1.0, 2.0]), []
            gm = GradManager().attach(x, callbacks=lambda t, g: told.append(t) or g)

            @trace(symbolic=symbolic)
            def f(x):
                gm.attach(x)
                with gm:
                    gm.backward((x * x).sum())
                return x.grad

            for _ in range(3):
                x.grad = None
                self.assertEqual((f(x).tolist(), x.grad.tolist()), ([2, 4], [2, 4]))
            self.assertEqual(len(told), 3)
            x.grad = None
            with gm:
                gm.backward((x * 3).sum())
            self.assertEqual(x.grad.tolist(), [3, 3])

    def test_arrays_are_arguments(self):
        net = M.Sequential(M.Linear(4, 3), M.BatchNorm1d(3), M.ReLU())
        image = M.Sequential(M.Conv2d(3, 4, 3), M.BatchNorm2d(4), M.MaxPool2d(2), M.AvgPool2d(2))
        for module, shape in ((net, (5, 4)), (image, (2, 3, 10, 10)), (M.LayerNorm(4), (5, 4))):
            x = np.random.default_rng(1).standard_normal(shape, dtype=np.float32)
            module.eval()
            want = module(tensor(x)).numpy()
            f = trace(lambda x, module=module: module(x))
            for _ in range(2):
                np.testing.assert_array_equal(f(x).numpy(), want)

    def test_flags_of_files(self):
        @trace(symbolic=True, capture_as_const=True)
        def f(a, b):
            return a + b

        f(tensor([2]), tensor([4]))
        for flags in ({"dump_format": "FBS"}, {"dump_format": "FBS_V2"}, {"input_data": ["#rand(0, 255, 1)"]}):
            with self.assertWarnsRegex(UserWarning, "Ebb's own"):
                info = f.dump(io.BytesIO(), **flags)
            self.assertEqual((info.nr_opr, info.inputs, info.outputs), (3, ["arg_0", "arg_1"], ["ADD"]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            f.dump(io.BytesIO(), no_assert=True, no_change_graph=True, keep_opr_name=True, enable_metadata=True)
        with self.assertRaisesRegex(ValueError, "dump_format 'TFLITE'"):
            f.dump(io.BytesIO(), dump_format="TFLITE")

    def test_a_norm_in_training_is_not_dumped(self):
        net = M.BatchNorm2d(3)
        f = trace(symbolic=True, capture_as_const=True)(lambda x: net(x))
        x = tensor(np.random.default_rng(1).standard_normal((2, 3, 4, 4), dtype=np.float32))
        f(x)
        with self.assertRaisesRegex(RuntimeError, "batch norm is in training"):
            f.dump(io.BytesIO())
        net.eval()
        f(x)
        f.dump(io.BytesIO())

    def test_another_course_is_refused_and_both_places_said(self):
        other = tensor([5.0])
        courses = (lambda x: x * x + x, lambda x: x + x, lambda x: F.exp(x * x + x), lambda x: x * x, lambda x: x * x + other)
        for options in ({}, {"on_mismatch": "raise", "symbolic": True}):
            course = 0
            f = trace(**options)(lambda x: courses[course](x))
            f(tensor([3.0]))
            for course, text in ((1, "operator mismatch: add .*test_megengine.py:.*mul .*test_megengine.py:"), (2, "too many instructions"),
                                 (3, "mismature end")):
                with self.assertRaisesRegex(TraceError, "^trace error because " + text):
                    f(tensor([1.0]))
            course = 0
            self.assertEqual(f(tensor([3.0])).item(), 12)
            course = 4  # the same ops of another tensor
            self.assertEqual(f(tensor([3.0])).item(), 14)
        f = trace(on_mismatch="retrace")(lambda x: courses[course](x))
        for course, y in ((0, 12), (1, 6), (3, 9), (4, 14)):
            self.assertEqual(f(tensor([3.0])).item(), y)
        with self.assertRaisesRegex(ValueError, "on_mismatch 'stop'"):
            trace(on_mismatch="stop")(lambda x: x)

    def test_profiles_have_the_profilers_keys(self):
        f = trace(symbolic=True, profiling=True)(lambda x: F.exp(-x))
        for _ in range(2):
            f(tensor([1.0]))
        profile = f.get_profile()
        names = {o["type"] for o in profile["graph_exec"]["operator"].values()}
        self.assertEqual(names, {"neg", "exp"})
        for times in profile["profiler"]["device"].values():
            self.assertLessEqual(times["xpux:0"]["start"], times["xpux:0"]["end"])
        self.assertEqual(set(profile["profiler"]["opr_footprint"]), set(profile["graph_exec"]["operator"]))

    def test_a_call_that_fails_is_an_error_of_both_kinds(self):
        for kind in (ValueError, RuntimeError):
            with self.assertRaisesRegex(kind, "no shape in common"):
                tensor([1.0, 2.0]) + tensor([1.0, 2.0, 3.0])


class Norms(unittest.TestCase):
    def setUp(self):
        self.x = tensor(np.random.default_rng(2).standard_normal((6, 3, 2, 2), dtype=np.float32))

    def test_tracking_that_is_switched_off_leaves_the_statistics(self):
        m = M.BatchNorm2d(3)
        m.track_running_stats = False
        mean, variance = m.running_mean.numpy(), m.running_var.numpy()
        y = m(self.x)
        m.eval()
        np.testing.assert_array_equal(m(self.x).numpy(), y.numpy())
        np.testing.assert_array_equal(m.running_mean.numpy(), mean)
        np.testing.assert_array_equal(m.running_var.numpy(), variance)

    def test_tracking_that_is_switched_on_later_is_refused(self):
        m = M.BatchNorm2d(3, track_running_stats=False)
        m.track_running_stats = True
        with self.assertRaisesRegex(ValueError, "no running statistics"):
            m(self.x)

    def test_frozen(self):
        m = M.BatchNorm2d(3, freeze=True)
        state = {k: v.copy() for k, v in m.state_dict().items()}
        gm, opt = GradManager().attach(m.parameters()), optim.SGD(m.parameters(), lr=1.0)
        with gm:
            loss = m(self.x).mean()
            gm.backward(loss)
        opt.step().clear_grad()
        for name, value in m.state_dict().items():
            np.testing.assert_array_equal(value, state[name])
        self.assertAlmostEqual(loss.item(), self.x.numpy().mean(), 5)


class States(unittest.TestCase):
    def test_are_found_by_the_parameter(self):
        for symbolic in (None, False, True):
            net = Scaled()
            opt, gm = optim.SGD(net.parameters(), lr=1.0, momentum=0.5), GradManager().attach(net.parameters())

            def step(x, *, net=None, opt=None, gm=None):
                with gm:
                    loss = net(x)
                    gm.backward(loss)
                opt.step().clear_grad()
                return loss

            step = step if symbolic is None else trace(symbolic=symbolic)(step)
            x = np.array([2.0], np.float32)
            for loss, momentum in ((2.5, 2.0), (-1.5, 3.0), (-7.5, 3.5)):
                self.assertEqual(step(x, net=net, opt=opt, gm=gm).item(), loss)
                self.assertEqual(opt._state[net.a]["momentum_buffer"].numpy(), momentum)

    def test_of_an_optimizer_of_ones_own(self):
        """By MegEngine's protocol: _create_state and _updates of a group."""
        class Heavy(optim.Optimizer):
            def __init__(self, params, lr, momentum=0.0):
                super().__init__(params, {"lr": lr, "momentum": momentum})

            def _create_state(self, param_group):
                for param in param_group["params"]:
                    self._add_state(param, "speed")

            def _updates(self, param_group):
                for param in param_group["params"]:
                    if param.grad is None:
                        continue
                    speed = self._state[param]["speed"]
                    speed *= param_group["momentum"]
                    speed += param.grad
                    param -= param_group["lr"] * speed

        for wrap in (lambda f: f, trace, trace(symbolic=True)):
            w, other = Parameter([1.0, 2.0]), Parameter([5.0])
            opt, gm = Heavy([w, other], 0.5, momentum=0.5), GradManager().attach(w)

            @wrap
            def step():
                with gm:
                    gm.backward((w * 2).sum())
                opt.step().clear_grad()

            for _ in range(3):
                step()
            self.assertEqual((w.tolist(), other.tolist()), ([-3.25, -2.25], [5]))
            self.assertEqual(opt._state[w]["speed"].tolist(), [3.5, 3.5])
            again = Heavy([w, other], 0.5)
            again.load_state_dict(opt.state_dict())
            self.assertEqual(again._state[w]["speed"].tolist(), [3.5, 3.5])

    def test_of_modules(self):
        net = M.Sequential(M.Linear(2, 3), M.BatchNorm1d(3))
        net.disable_quantize()
        with self.assertWarnsRegex(UserWarning, "requires_grad"):
            self.assertEqual(len(list(net.parameters(requires_grad=True))), 4)
        names = [n for n, _ in net.named_tensors()]
        self.assertEqual(names, sorted(net.state_dict()))
        self.assertTrue(all(isinstance(t, Tensor) for t in net.state_dict(keep_var=True).values()))
        self.assertEqual([n for n, _ in net.named_children()], ["0", "1"])


if __name__ == "__main__":
    unittest.main()
