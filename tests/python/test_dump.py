"""Files of traced functions: written, loaded, run; profiles."""

import io
import json
import os
import tempfile
import unittest

import numpy as np

import ebb.functional as F
import ebb.module as M
import ebb.optimizer as optim
from ebb import tensor
from ebb.autodiff import GradManager
from ebb.jit import TraceError, exclude_from_trace, load, trace
from ebb.utils.comp_graph_tools import GraphInference


def random(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.fc = M.Conv2d(3, 8, 3, padding=1), M.BatchNorm2d(8), M.Linear(8, 5)

    def forward(self, x):
        x = F.relu(self.bn(self.conv(x))) * 0.5 + np.ones((1, 8, 1, 1), np.float32)
        return self.fc(F.flatten(F.adaptive_avg_pool2d(x, 1), 1))


class Files(unittest.TestCase):
    def test_sum_of_two(self):
        @trace(symbolic=True, capture_as_const=True)
        def f(a, b):
            return a + b

        a, b = tensor([2]), tensor([4])
        y = f(a, b).numpy()
        for _ in range(3):
            np.testing.assert_equal(f(a, b).numpy(), y)
        file = io.BytesIO()
        info = f.dump(file)
        self.assertEqual((info.nr_opr, info.inputs, info.outputs), (3, ["arg_0", "arg_1"], ["ADD"]))
        self.assertEqual(info.tot_bytes, file.tell())
        file.seek(0)
        found = GraphInference(file).run(a, b)
        self.assertEqual(list(found), ["ADD"])
        np.testing.assert_equal(found["ADD"], y)

    def check_net(self, symbolic, **options):
        net = Net()
        net(tensor(random(4, 3, 8, 8)))  # statistics that are no beginner's
        net.eval()

        @trace(symbolic=symbolic, capture_as_const=True)
        def infer(x, *, net):
            logits = net(x)
            return {"p": F.softmax(logits), "logits": logits}

        x = tensor(random(2, 3, 8, 8))
        for _ in range(2):
            found = infer(x, net=net)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.ebb-trace")
            info = infer.dump(path, arg_names=["x"], output_names=["p", "logits"])
            self.assertEqual(os.listdir(folder), ["net.ebb-trace"])
            loaded = load(path, **options)
        self.assertEqual((loaded.inputs, loaded.outputs), (["x"], ["p", "logits"]))
        p, logits = loaded(x)
        np.testing.assert_array_equal(p.numpy(), found["p"].numpy())
        np.testing.assert_array_equal(logits.numpy(), found["logits"].numpy())
        other = random(2, 3, 8, 8) + 1
        np.testing.assert_array_equal(loaded(x=other)[1].numpy(), net(tensor(other)).numpy())
        self.assertEqual(len(info.params), len(loaded.state_dict()))
        return loaded

    def test_arguments_given_by_name_keep_it(self):
        f = trace(symbolic=True, capture_as_const=True)(lambda x, b, scale=None: x * scale + b)
        f(tensor([1.0, 2.0]), scale=tensor([3.0, 3.0]), b=tensor([5.0, 5.0]))
        for names, first in ((None, "arg_0"), (["pixels"], "pixels")):
            file = io.BytesIO()
            self.assertEqual(f.dump(file, arg_names=names).inputs, [first, "b", "scale"])
            file.seek(0)
            net = GraphInference(file)
            got = net.run(inp_dict={first: np.float32([1, 2]), "b": np.float32([1, 1]), "scale": np.float32([2, 2])})
            np.testing.assert_array_equal(list(got.values())[0], [3, 5])
        with self.assertRaisesRegex(ValueError, "repeat"):
            f.dump(io.BytesIO(), arg_names=["b"])

    def test_a_network_gives_the_same_bits(self):
        for symbolic in (False, True):
            self.check_net(symbolic)
        self.check_net(True, memory="none")
        self.assertGreater(self.check_net(True).plan()["total_bytes"], 0)

    def test_numbers_are_those_of_the_last_call(self):
        @trace(capture_as_const=True)
        def f(x, rate):
            return x * rate[0]

        rate = [2.0]
        for value in (2.0, 3.0):
            rate = [value]
            f(tensor([1.0, 2.0]), rate)
        file = io.BytesIO()
        f.dump(file)
        file.seek(0)
        np.testing.assert_array_equal(load(file)(tensor([1.0, 2.0])).numpy(), [3.0, 6.0])

    def test_a_training_step_goes_on(self):
        net = Net()
        gm, opt = GradManager().attach(net.parameters()), optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

        @trace(symbolic=True, capture_as_const=True)
        def step(x, y):
            opt.clear_grad()
            with gm:
                loss = F.loss.cross_entropy(net(x), y)
                gm.backward(loss)
            opt.step()
            return loss

        x, y = tensor(random(4, 3, 8, 8)), tensor(np.arange(4, dtype=np.int32))
        for _ in range(2):
            step(x, y)
        file = io.BytesIO()
        step.dump(file)
        file.seek(0)
        loaded = load(file)
        for _ in range(3):
            np.testing.assert_array_equal(loaded(x, y).numpy(), step(x, y).numpy())

    def test_what_can_not_be_written(self):
        @trace(symbolic=True)
        def without(x):
            return x + 1

        without(tensor([1.0]))
        with self.assertRaisesRegex(ValueError, "capture_as_const"):
            without.dump(io.BytesIO())

        @trace(capture_as_const=True)
        def reads(x):
            y = x + 1
            y.numpy()
            return y * x

        reads(tensor([1.0]))
        with self.assertRaisesRegex(ValueError, "in parts"):
            reads.dump(io.BytesIO())

        @trace(capture_as_const=True)
        def excludes(x):
            with exclude_from_trace():
                z = x * 3
            return z + x

        excludes(tensor([1.0]))
        with self.assertRaisesRegex(ValueError, "in parts|excluded region"):
            excludes.dump(io.BytesIO())

        @trace(capture_as_const=True)
        def f(x):
            return x + 1

        with self.assertRaises(TraceError):
            f.dump(io.BytesIO())
        f(tensor([1.0]))
        for flags, error in (({"enable_ioc16": True}, "enable_io16xc32"), ({"enable_nchw44": True}, "layout"),
                             ({"append": True}, "append"), ({"arg_names": ["a", "b"]}, "2 arg_names for 1")):
            with self.assertRaisesRegex(ValueError, error):
                f.dump(io.BytesIO(), **flags)
        with self.assertRaisesRegex(TypeError, "no option 'enable_magic'"):
            f.dump(io.BytesIO(), enable_magic=True)
        f.dump(io.BytesIO(), enable_fuse_conv_bias_nonlinearity=True, optimize_for_inference=False)

    def test_files_that_are_no_files_of_dump(self):
        @trace(capture_as_const=True)
        def f(x):
            return x @ tensor(random(3, 3))

        f(tensor(random(2, 3)))
        file = io.BytesIO()
        f.dump(file)
        data = file.getvalue()
        for cut in range(0, len(data), 7):
            with self.assertRaises(ValueError) as caught:
                load(io.BytesIO(data[:cut]))
            self.assertNotIn("\n", str(caught.exception))
        for bad in (data.replace(b"matmul", b"nosuch"), data.replace(b"ebb.trace/1", b"ebb.trace/9"),
                    data.replace(b'"shape":[3,3]', b'"shape":[9,1]'),
                    data.replace(b'"v1.new":{', b'"v1.old":{')):
            self.assertNotEqual(bad, data)
            with self.assertRaises(ValueError, msg=bad):
                load(io.BytesIO(bad))
        file.seek(0)
        loaded = load(file)
        for args, named in (((), {}), ((1, 2), {}), ((), {"y": 1})):
            with self.assertRaises(TypeError):
                loaded(*args, **named)
        with self.assertRaisesRegex(ValueError, "arg_0"):
            loaded(random(3, 2))


class Profiles(unittest.TestCase):
    def test_times_of_each_step(self):
        @trace(symbolic=True, profiling=True)
        def f(x):
            return F.exp(x @ x).sum()

        f(tensor(random(64, 64)))
        f(tensor(random(64, 64)))
        profile = json.loads(json.dumps(f.get_profile()))
        (program,) = profile["programs"]
        self.assertEqual(len(program["steps"]), program["plan"]["n_steps"])
        self.assertEqual({s["n_runs"] for s in program["steps"]}, {2})
        self.assertTrue(all(s["median_ns"] >= s["least_ns"] >= 0 for s in program["steps"]))
        self.assertGreater(sum(s["least_ns"] for s in program["steps"]), 0)
        self.assertIn("matmul", {s["kind"] for s in program["steps"]})

    def test_without_profiling_there_is_none(self):
        @trace(symbolic=True)
        def f(x):
            return x + 1

        f(tensor([1.0]))
        with self.assertRaisesRegex(TraceError, "profiling=True"):
            f.get_profile()


if __name__ == "__main__":
    unittest.main()
