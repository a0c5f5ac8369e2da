"""What is wrong with a program is told in one line, where it is made, and files are written whole or not at all."""

import os
import sys
import tempfile
import unittest
import warnings

import numpy as np

import ebb as mge
import ebb.functional as F
import ebb.module as M
import ebb.optimizer as optim
from ebb.autodiff import GradManager
from ebb.jit import trace


class Messages(unittest.TestCase):
    def test_what_cannot_be_made(self):
        net = M.Linear(2, 3)
        for kind, text, make in (
            (ValueError, r"Conv2d: kernel_size 0: whole", lambda: M.Conv2d(3, 4, 0)),
            (ValueError, r"Conv2d: kernel_size \(3, 0\)", lambda: M.Conv2d(3, 4, (3, 0))),
            (ValueError, r"ConvTranspose2d: in_channels -1", lambda: M.ConvTranspose2d(-1, 4, 3)),
            (ValueError, r"Conv1d: groups 0", lambda: M.Conv1d(4, 4, 3, groups=0)),
            (ValueError, r"Linear: in_features 0", lambda: M.Linear(0, 3)),
            (ValueError, r"Linear: out_features 2.5", lambda: M.Linear(2, 2.5)),
            (ValueError, r"Dropout: drop_prob 1.5", lambda: M.Dropout(1.5)),
            (ValueError, r"\(2, 3\) has 2 axes; it takes 4", lambda: M.BatchNorm2d(3)(mge.tensor(np.ones((2, 3), "f4")))),
            (ValueError, r"has 4 axes; it takes 2 or 3", lambda: M.BatchNorm1d(3)(mge.tensor(np.ones((2, 3, 1, 1), "f4")))),
            (ValueError, r"no tensors", lambda: F.concat([])),
            (ValueError, r"stack: one shape, not", lambda: F.stack([])),
            (TypeError, r"not Linear: give its parameters\(\)", lambda: GradManager().attach(net)),
            (TypeError, r"lr 'a': a number", lambda: optim.SGD(net.parameters(), lr="a")),
            (KeyError, r"not given: \['bias', 'weight'\]\"?$", lambda: net.load_state_dict({})),
        ):
            with self.subTest(text), self.assertRaisesRegex(kind, text) as told:
                make()
            self.assertNotIn("\n", str(told.exception))

    def test_sizes_that_are_none(self):
        for text, make in (
            ("Conv2d: padding 'same': whole numbers from 0$", lambda: M.Conv2d(3, 4, 3, padding="same")),
            ("Conv3d: padding 'same'", lambda: M.Conv3d(3, 4, 3, padding="same")),
            ("ConvTranspose2d: padding -1", lambda: M.ConvTranspose2d(3, 4, 3, padding=-1)),
            ("Conv1d: stride 1.5: whole numbers from 1", lambda: M.Conv1d(3, 4, 3, stride=1.5)),
            ("LocalConv2d: dilation 0", lambda: M.LocalConv2d(3, 4, 8, 8, 3, dilation=0)),
            ("MaxPool2d: padding 'same'", lambda: M.MaxPool2d(2, padding="same")),
            ("arange: step is 0", lambda: F.arange(0, 5, 0)),
            (r"shape \(2, -1\): sizes are 0 or more", lambda: F.ones((2, -1))),
            (r"shape \(-3, 0\): sizes are 0 or more", lambda: F.full((-3, 0), 2)),
            ("permutation: 5.5: a whole number", lambda: mge.random.permutation(5.5)),
            ("permutation: 5.5: a whole number", lambda: mge.random.RNG().permutation(5.5)),
            ("permutation: 2.5: a whole number", lambda: mge.random.permutation(mge.tensor(2.5))),
            ("permutation: -1: a whole number", lambda: mge.random.permutation(-1)),
        ):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                make()
        self.assertEqual(sorted(mge.random.permutation(mge.tensor(3)).tolist()), [0, 1, 2])

    def test_states_of_recurrent_layers(self):
        x, h = F.zeros((2, 1, 3)), lambda *shape: F.zeros(shape)
        for text, net, hx in (
            (r"LSTM: hx of \(1, 1, 4\): \(h, c\), each of shape \(1, 1, 4\) is needed", M.LSTM(3, 4), h(1, 1, 4)),
            (r"LSTM: hx of \[\(1, 1, 5\), \(1, 1, 4\)\]: \(h, c\), each", M.LSTM(3, 4), (h(1, 1, 5), h(1, 1, 4))),
            (r"LSTM: hx of \[\(1, 1, 4\)\]: ", M.LSTM(3, 4), [h(1, 1, 4)]),
            (r"RNN: hx of \(1, 2, 4\): a tensor of shape \(2, 1, 4\)", M.RNN(3, 4, 2), h(1, 2, 4)),
            (r"RNN: hx of \[\(1, 1, 4\)\]: a tensor", M.RNN(3, 4), (h(1, 1, 4),)),
            (r"LSTMCell: hx of \(1, 4\): \(h, c\)", lambda x, hx: M.LSTMCell(3, 4)(x[0], hx), h(1, 4)),
            (r"GRUCell: hx of \(3, 4\): a tensor of shape \(1, 4\)", lambda x, hx: M.GRUCell(3, 4)(x[0], hx), h(3, 4)),
        ):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                net(x, hx)
        self.assertEqual(M.LSTM(3, 4, 2)(x, (h(1, 8), h(2, 1, 4)))[1][0].shape, (2, 1, 4))

    def test_classes_that_are_not_named(self):
        self.assertEqual(F.one_hot(mge.tensor([[0, 2]]), 3).tolist(), [[[1, 0, 0], [0, 0, 1]]])
        self.assertEqual(F.one_hot(mge.tensor(np.uint8(1)), 2).tolist(), [0, 1])
        self.assertEqual(F.one_hot(F.zeros((0,)).astype("int32"), 3).shape, (0, 3))
        traced = trace(lambda x: F.one_hot(x, 3))
        for f in (lambda x: F.one_hot(x, 3), traced, traced):
            for wrong in (5, 3, -1, -3):
                with self.assertRaisesRegex((ValueError, mge.TraceError), "index .* is outside"):
                    f(mge.tensor([0, wrong])).numpy()
            self.assertEqual(f(mge.tensor([0, 2])).tolist(), [[1, 0, 0], [0, 0, 1]])

    def test_nothing_is_rolled(self):
        for axis in (None, 0, 1, (0, 1)):
            self.assertEqual(F.roll(F.zeros((0, 3)), (1, 1) if axis == (0, 1) else 1, axis).shape, (0, 3))

    def test_a_module_that_was_not_made(self):
        class Mine(M.Module):
            def __init__(self):
                self.inside = M.Linear(2, 2)

            @property
            def broken(self):
                return self.nothing

        for use in (lambda: Mine()(1), lambda: Mine().training, lambda: Mine().eval()):
            with self.assertRaisesRegex(AttributeError, r"Mine: super\(\).__init__\(\) is called first"):
                use()
        made = Mine()
        M.Module.__init__(made)
        for name, text in (("other", "'Mine' object has no attribute 'other'"), ("broken", "no attribute 'nothing'")):
            with self.assertRaisesRegex(AttributeError, text):
                getattr(made, name)

    def test_what_is_no_state(self):
        sgd = optim.SGD(M.Linear(2, 3).parameters(), lr=0.1)
        for state, text in (({"x": 1}, "no param_groups and no state: what state_dict"), ({"param_groups": []}, "no state: "),
                            (3, "no param_groups"), ({"param_groups": [{}], "state": {}}, "no params of a group")):
            with self.assertRaisesRegex(ValueError, f"load_state_dict: .*{text}"):
                sgd.load_state_dict(state)

    def test_the_state_of_another_optimizer(self):
        net = M.Linear(2, 3)
        state = optim.AdamW(net.parameters(), lr=0.5).state_dict()
        sgd = optim.SGD([{"params": [net.weight]}, {"params": [net.bias]}], lr=0.1, momentum=0.9)
        groups = sgd.state_dict()["param_groups"]
        state["param_groups"] = [{**groups[0], "lr": 0.7}, {**state["param_groups"][0], "params": groups[1]["params"]}]
        with self.assertRaisesRegex(ValueError, "another optimizer: it has betas, eps and no momentum"):
            sgd.load_state_dict(state)
        self.assertEqual(sgd.param_groups[0]["lr"], 0.1)


class Traces(unittest.TestCase):
    def test_a_call_with_arrays_has_no_file(self):
        f = trace(lambda x: x * 2, symbolic=True, capture_as_const=True)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.st")
            f(np.ones(3, np.float32))
            with self.assertRaisesRegex(ValueError, "given arrays.*give Tensors"):
                f.dump(path)
            self.assertEqual(os.listdir(folder), [])
            f(mge.tensor(np.ones(3, np.float32)))
            self.assertEqual(f.dump(path).inputs, ["arg_0"])

    def test_a_report_is_in_a_format_that_is_known(self):
        f = trace(lambda x: x * 2, symbolic=True)
        f(mge.tensor(np.ones(3, np.float32)))
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(ValueError, "names no format: one of .html .json .md .txt"):
                f.report(os.path.join(folder, "step.pdf"))
            self.assertEqual(os.listdir(folder), [])
            f.report(os.path.join(folder, "step.pdf"), format="markdown")
            f.report(os.path.join(folder, "step.HTML"))
            with open(os.path.join(folder, "step.HTML"), encoding="utf-8") as file:
                self.assertIn("<html", file.read())

    def test_each_traced_method_outside_of_the_budget_is_told_where_it_is_called(self):
        class Model:
            def __init__(self):
                self.looks = []

            @trace(symbolic=True, budget="1MiB")
            def step(self, x):
                y = F.exp(x).sum()
                return y.item() if self.looks else y

        class Other(Model):
            step = trace(lambda self, x: Model.step.__wrapped__(self, x), symbolic=True, budget="1MiB")

        def told_of(model):
            x = mge.tensor(np.ones(8, np.float32))
            model.step(x)
            model.looks.append(1)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                model.step(x)
                line = sys._getframe().f_lineno - 1
            self.assertEqual([(row.filename, row.lineno) for row in told], [(__file__, line)])

        told_of(Model())
        told_of(Other())

    def test_a_call_that_failed_leaves_nothing_to_write(self):
        f = trace(lambda x: x * missing, symbolic=True, capture_as_const=True)  # noqa: F821
        with self.assertRaises(NameError):
            f(mge.tensor([1.0]))
        with self.assertRaises(ValueError), tempfile.TemporaryDirectory() as folder:
            f.dump(os.path.join(folder, "f.st"))


class Files(unittest.TestCase):
    def test_a_file_that_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "state")
            mge.save({"x": mge.tensor([1.0])}, path)
            with open(path, "rb") as file:
                whole = file.read()
            for data in (b"", b"ebb 1\n", whole[: len(whole) // 2], b"\x80\x05"):
                with open(path, "wb") as file:
                    file.write(data)
                with self.assertRaisesRegex(ValueError, "no file that save has written whole"):
                    mge.load(path)

    def test_one_is_written_whole_or_not_at_all(self):
        class Fails:
            def __reduce__(self):
                raise RuntimeError("planted")

        with tempfile.TemporaryDirectory() as folder:
            path, link = os.path.join(folder, "state"), os.path.join(folder, "link")
            mge.save([1], path)
            os.chmod(path, 0o640)
            os.symlink(path, link)
            with self.assertRaisesRegex(RuntimeError, "planted"):
                mge.save([np.zeros(10**6), Fails()], path)
            self.assertEqual((mge.load(path), sorted(os.listdir(folder))), ([1], ["link", "state"]))
            mge.save([2], link)  # the file it names is replaced, and keeps its mode
            self.assertTrue(os.path.islink(link))
            self.assertEqual((mge.load(path), os.stat(path).st_mode & 0o777), ([2], 0o640))
            with self.assertRaises(FileNotFoundError):
                mge.save([1], os.path.join(folder, "none", "state"))
            mge.save([1], "/dev/null")


if __name__ == "__main__":
    unittest.main()
