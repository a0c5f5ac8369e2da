"""Calls in which nothing runs: recorded only, planned for a described device, or to find what fits."""

import json
import os
import tempfile
import unittest

import numpy as np

import ebb as mge
import ebb.functional as F
import ebb.module as M
import ebb.optimizer as optim
from ebb import Parameter, _core, random, tensor
from ebb.autodiff import GradManager
from ebb.jit import DTRConfig, SublinearMemoryConfig, TraceError, load, partial_trace, trace

EXAMPLES = next(folder for folder in (os.path.join(os.path.dirname(__file__), *up, "examples") for up in ([".."], ["..", ".."]))
                if os.path.isdir(folder))
CARD = os.path.join(EXAMPLES, "devices", "rtx2080ti.json")


def here():
    """Whether plans can be made for a described GPU."""
    try:
        trace(lambda x: x + 1, device=CARD)(tensor([1.0]))
    except RuntimeError as error:
        if "cuda" not in str(error):
            raise
        return False
    return True


def resnet50():
    """The example's network and a step as MegEngine's documents write it; and what it is called with."""
    with open(os.path.join(EXAMPLES, "python", "resnet50.py"), encoding="utf-8") as file:
        cells = {}
        exec(file.read().split("# %% The digits")[0], cells)
    net = cells["ResNet50"](3, 1000)
    opt = optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)

    def train(x, y, *, net, opt, gm):
        with gm:
            loss = F.nn.cross_entropy(net(x), y)
            gm.backward(loss)
        opt.step().clear_grad()
        return loss

    return train, {"net": net, "opt": opt, "gm": GradManager().attach(net.parameters())}


def data(n):
    return tensor(np.ones((n, 16), np.float32)), tensor(np.zeros(n, np.int32))


def data_of_one(n):
    return (tensor(np.ones(n, np.float32)),)


def training():
    """A network's step, and what it changes."""
    net = M.Sequential(M.Linear(16, 32), M.BatchNorm1d(32), M.Dropout(0.5), M.ReLU(), M.Linear(32, 4))
    gm, opt = GradManager().attach(net.parameters()), optim.Adam(net.parameters(), lr=0.1)

    def step(x, y):
        with gm:
            loss = F.loss.cross_entropy(net(x), y)
            gm.backward(loss)
        opt.step()
        return loss

    def state():
        own = [x.numpy().tobytes() for x in [*net.tensors(), *(s for p in opt.state_dict(True)["state"].values() for s in p.values())]]
        return own, [p.grad for p in net.parameters()], random.uniform(size=(3,)).tolist()

    return step, state


class Nothing(unittest.TestCase):
    def test_runs_where_calls_are_recorded_only(self):
        step, state = training()
        f = trace(step, record_only=True)
        for _ in range(2):
            random.seed(4)
            before = state()
            random.seed(4)
            pool = mge._core.memory()["n_launches"]
            loss = f(*data(8))
            self.assertEqual((loss.shape, mge._core.memory()["n_launches"]), ((), pool))
            self.assertEqual(state(), before)
            with self.assertRaisesRegex(TraceError, "no value"):
                loss.item()
        self.assertIn("adamw", f.text())
        with self.assertRaisesRegex(TraceError, "record_only records and plans nothing"):
            f.plan()
        self.assertEqual((f.facts()["n_runs"], f.facts()["n_programs"]), (0, 0))
        random.seed(4)
        self.assertTrue(np.isfinite(step(*data(8)).item()))  # and all of it goes on

    def test_is_cleared_in_them(self):
        w = Parameter([2.0])
        gm, opt = GradManager().attach(w), optim.SGD([w], lr=0.1)

        def step(x):
            opt.clear_grad()
            with gm:
                gm.backward(w * x)
            opt.step()

        step(tensor([3.0]))
        before = w.grad
        f = trace(step, record_only=True)
        f(tensor([4.0]))
        self.assertIs(w.grad, before)
        self.assertEqual(w.grad.item(), 3)

    def test_is_read_in_them(self):
        f = trace(lambda x: x * float((x + 1).item()), record_only=True)
        with self.assertRaisesRegex(TraceError, "nothing runs"):
            f(tensor([2.0]))

    def test_a_file_of_them_runs(self):
        f = trace(lambda x: x * 2 + 1, record_only=True)
        f(tensor([1.0, 2.0]))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.safetensors")
            f.dump(path)
            self.assertEqual(load(path)(tensor([3.0, 4.0])).tolist(), [7, 9])


class Fitting(unittest.TestCase):
    def test_the_largest_is_the_largest(self):
        step, state = training()
        for options in ({}, {"budget": "64KiB"}):
            with self.subTest(str(options)):
                before = state()[:2]
                found = trace(step, **options).fit(data, "100KiB", most=300)
                self.assertEqual(state()[:2], before)
                n, plan = found["n"], found["plan"]
                self.assertLessEqual(plan["total_bytes"], 100 * 1024)
                self.assertTrue(found["tried"][n + 1] is None or found["tried"][n + 1] > 100 * 1024)
                self.assertEqual(found["tried"][n], plan["total_bytes"])
        self.assertEqual(trace(step).fit(data, 1000)["n"], 0)
        self.assertEqual(trace(step).fit(data, "1GiB", most=6)["n"], 6)

    def test_a_share_of_what_the_step_takes_in_place(self):
        def planned(**how):
            @trace(symbolic=True, effort=100, **how)
            def step(x, w):
                gm = GradManager().attach([w])
                with gm:
                    for _ in range(8):
                        x = F.sigmoid(F.matmul(x, w))
                    gm.backward(x.mean())
                return w.grad

            step(tensor(np.zeros((256, 64), np.float32)), tensor(np.zeros((64, 64), np.float32)))
            return step.plan()

        whole = planned()["total_bytes"]
        for share in (0.8, "80%"):
            plan = planned(budget=share)
            self.assertEqual(plan, planned(budget=int(0.8 * whole)))
            self.assertLessEqual(plan["total_bytes"], 0.8 * whole)
        self.assertEqual(planned(budget=np.float32(1)), planned(budget=whole))
        self.assertEqual(planned(budget=float(2 * whole)), planned(budget=2 * whole))

    def test_numbers_are_bytes_or_a_share(self):
        for budget, share in ((0.6, 0.6), (np.float32(0.5), 0.5), (1.0, 1.0), ("60%", 0.6), ("100%", 1.0)):
            options = trace(lambda x: x, budget=budget)._options
            self.assertEqual((options.get("budget"), options["budget_share"]), (None, share))
        for budget, n_bytes in ((1, 1), (2e9, 2 * 10**9), (np.float64(2), 2), (np.int64(7), 7), ("2KiB", 2048)):
            options = trace(lambda x: x, budget=budget)._options
            self.assertEqual((options["budget"], options.get("budget_share")), (n_bytes, None))
        for budget, text in ((0, "above 0"), (0.0, "above 0"), ("0", "above 0"), (-5, "above 0"), (-0.5, "above 0"),
                             (1.5, "at most 1, and bytes are whole"), (np.float32(2.5), "bytes are whole"),
                             (float("nan"), "no number"), (float("inf"), "no number"), (1e30, "more than"), (2**63, "more than"),
                             ("0%", "above 0%"), ("101%", "above 0%"), ("x%", "above 0%"), ("nan%", "above 0%"),
                             ("0.6", "bytes are \"11GiB\""), ("-5", "bytes are")):
            for call in (lambda: trace(lambda x: x, budget=budget), lambda: trace(lambda x: x).fit(data, budget)):
                with self.assertRaisesRegex(ValueError, text) as raised:
                    call()
                self.assertNotIn("\n", str(raised.exception))
        for budget in (True, np.False_, [1], b"1GiB"):
            with self.assertRaisesRegex(TypeError, "trace: budget=.*: bytes"):
                trace(lambda x: x, budget=budget)

    def test_a_share_is_of_one_program_of_one_size(self):
        with self.assertRaisesRegex(ValueError, "fit: the trace's budget is a share"):
            trace(lambda x: x, budget=0.5).fit(data_of_one)
        for share in (0.5, "50%", np.float32(0.5)):
            with self.assertRaisesRegex(ValueError, "fit: budget=.*50?%?.*: a share"):
                trace(lambda x: x).fit(data_of_one, share)
        for options in ({"budget": "50%"}, {"dtr_config": DTRConfig(0.5)}):
            with self.assertRaisesRegex(ValueError, "partial_trace: budget=0.5: a share"):
                partial_trace(lambda x: x, **options)
        self.assertEqual(trace(lambda x: x + 1, budget="1MiB").fit(data_of_one, 1e6, most=9)["budget_bytes"], 10**6)
        with self.assertRaisesRegex(ValueError, r"^fit: the step has no op that takes what arguments\(1\) gives"):
            trace(lambda x: x * 2).fit(lambda n: (np.ones(n, "float32"),), "1MiB")

    def test_each_program_of_a_call_has_its_share(self):
        def planned(**how):
            @trace(effort=100, **how)
            def step(x, w):
                gm, w.grad = GradManager().attach([w]), None
                for n in (8, 12):
                    with gm:
                        y = x
                        for _ in range(n):
                            y = F.sigmoid(F.matmul(y, w))
                        loss = y.mean()
                        gm.backward(loss)
                    x = x * loss.item()  # the first program ends here
                return w.grad

            for _ in range(2):
                step(tensor(np.zeros((256, 64), np.float32)), tensor(np.zeros((64, 64), np.float32)))
            return [step.plan(i) for i in range(step.facts()["n_programs"])]

        whole, parts = planned(), planned(budget=0.8)
        self.assertEqual(len(parts), len(whole))
        self.assertGreater(len(parts), 1)
        for before, plan in zip(whole, parts):
            self.assertEqual(plan["budget_bytes"], int(0.8 * before["total_bytes"]))

    def test_a_program_that_cannot_shrink_is_named(self):
        w = Parameter(np.ones((64, 64), np.float32))
        gm, opt = GradManager().attach(w), optim.SGD([w], lr=0.1)

        @trace(symbolic=True, budget=int(64 * 64 * 4 * 1.9))
        def step(x):
            total = (x * 2).sum()
            if total.item() > 0:
                with gm:
                    gm.backward((F.sigmoid(w) * 2).sum())
                opt.step().clear_grad()

        with self.assertRaisesRegex(mge.OverBudget, r"it is program 1 of the call, of what follows the read of a value at .*test_planned.py:\d+$") as told:
            step(tensor(np.ones(4, np.float32)))
        self.assertGreater(told.exception.least_bytes, 64 * 64 * 4 * 1.9)

    def test_methods_keywords_and_budgets(self):
        class Model:
            @trace(budget="1MiB")
            def step(self, x, *, times):
                return (x * times).sum()

        found = Model().step.fit(data_of_one, times=2.0, most=1 << 20)
        self.assertEqual(found["budget_bytes"], 1 << 20)
        self.assertGreater(found["n"], 100000)
        with self.assertRaisesRegex(ValueError, "a budget is needed"):
            trace(lambda x: x).fit(data)


class Devices(unittest.TestCase):
    def test_of_this_process_are_named_as_ever(self):
        self.assertEqual(trace(lambda x: x + 1, device="xpux")(tensor([1.0])).item(), 2)
        with self.assertRaisesRegex(ValueError, "EBB_DEVICE"):
            trace(lambda x: x, device="cpu0" if _core.device().startswith("cuda") else "gpu0")
        with self.assertRaisesRegex((ValueError, OSError, RuntimeError), "nowhere.json"):
            trace(lambda x: x, device="nowhere.json")

    def test_megengines_sample_on_a_described_rtx_2080_ti(self):
        """100 images fit; 200 do not, and the numbers are told; 200 with 20 generations do."""
        if not here():
            self.skipTest("this build has no cuda")
        train, own = resnet50()

        def planned(n, **options):
            step = trace(train, symbolic=True, device=CARD, **options)
            step(tensor(np.zeros((n, 3, 224, 224), np.float32)), tensor(np.zeros(n, np.int32)), **own)
            return step.plan()["total_bytes"]

        with open(CARD, encoding="utf-8") as file:
            card = json.load(file)
        self.assertLess(planned(100), card["totalGlobalMem"])
        with self.assertRaisesRegex(mge.OverBudget, r"takes \d+ bytes, more than the 11017846784 that NVIDIA GeForce RTX 2080 Ti"):
            planned(200)
        self.assertLess(planned(200, sublinear_memory_config=SublinearMemoryConfig(genetic_nr_iter=20)), 11017846784)
        with self.assertRaisesRegex(mge.OverBudget, "smallest found needs"):
            planned(200, budget="300MiB", effort=100)

    def test_megengines_sample_runs_to_the_bits_of_eager(self):
        ends, rng = [], np.random.default_rng(3)
        image, label = rng.standard_normal((2, 3, 32, 32)).astype(np.float32), np.array([1, 7])
        for wrap in (lambda f: f, trace(symbolic=True, sublinear_memory_config=SublinearMemoryConfig(genetic_nr_iter=20))):
            random.seed(1)
            train, own = resnet50()
            step = wrap(train)
            losses = [step(tensor(image), tensor(label), **own).item() for _ in range(2)]
            ends.append((losses, [p.numpy().tobytes() for p in own["net"].tensors()]))
        self.assertEqual(*ends)
        self.assertGreater(step.plan()["n_recomputed"], 0)


if __name__ == "__main__":
    unittest.main()
