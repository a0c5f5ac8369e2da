"""Traced steps within a budget: the same bits in fewer bytes, plans, reports and refusals."""

import contextlib
import gc
import io
import json
import os
import signal
import tempfile
import time
import unittest
import warnings
import weakref

import numpy as np

import ebb as mge
import ebb.functional as F
import ebb.module as M
import ebb.optimizer as optim
from ebb import Parameter, random, tensor
from ebb.autodiff import GradManager
from ebb.jit import DTRConfig, SublinearMemoryConfig, trace


class Deep(M.Module):
    """Layers enough for recomputation to pay."""

    def __init__(self):
        super().__init__()
        self.layers = [(M.Conv2d(8, 8, 3, padding=1), M.BatchNorm2d(8)) for _ in range(8)]
        self.fc = M.Linear(8, 4)

    def forward(self, x):
        for conv, bn in self.layers:
            x = F.silu(bn(conv(x)))
        return self.fc(F.flatten(F.adaptive_avg_pool2d(x, 1), 1))


def steps(n=3, **options):
    """The parameters after n steps, and the traced step."""
    random.seed(1)
    net = Deep()
    gm, opt = GradManager().attach(net.parameters()), optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

    @trace(symbolic=True, **options)
    def step(x, y):
        opt.clear_grad()
        with gm:
            loss = F.loss.cross_entropy(net(x), y)
            gm.backward(loss)
        opt.step()
        return loss

    rng = np.random.default_rng(0)
    for _ in range(n):
        x = rng.standard_normal((4, 8, 16, 16)).astype(np.float32)
        step(tensor(x), tensor(rng.integers(0, 4, 4)))
    return net.state_dict(), step


class Budgets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.state, cls.step = steps()
        cls.plan = cls.step.plan()

    def same(self, state):
        for name, value in self.state.items():
            np.testing.assert_array_equal(state[name], value, name)

    def test_a_budget_is_kept_and_changes_no_bit(self):
        budget = int(self.plan["persistent_bytes"] + 0.5 * self.plan["arena_bytes"])
        state, step = steps(budget=budget)
        plan = step.plan()
        self.assertLessEqual(plan["total_bytes"], budget)
        self.assertEqual((plan["budget_bytes"], self.plan["budget_bytes"]), (budget, None))
        self.assertGreater(plan["n_recomputed"], 0)
        self.assertGreaterEqual(plan["time_ns"], plan["bound_time_ns"])
        self.same(state)

    def test_a_call_outside_of_the_budget_is_told_once(self):
        w = Parameter(np.ones((8, 8), np.float32))
        gm, looks = GradManager().attach(w), []

        def step(x):
            with gm:
                loss = (F.exp(x @ w) * 2).sum()
                gm.backward(loss)
            if looks:
                loss.item()
            w.grad = None
            return loss

        for options, n_told in (({"budget": "1MiB"}, 1), ({"budget": 1.0}, 1), ({}, 0)):
            f = trace(step, symbolic=True, **options)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                f(tensor(np.ones((4, 8), np.float32)))
                self.assertEqual(told, [])
                n_runs = []
                for n in (0, 1, 1, 0, 1):  # once by another course; then there is a program for it
                    looks[:] = [n] * n
                    f(tensor(np.ones((4, 8), np.float32)))
                    n_runs.append(f.facts()["n_runs"])
                looks.clear()
            self.assertEqual([b - a for a, b in zip(n_runs, n_runs[1:])], [0, 1, 1, 1])
            self.assertEqual([row.category for row in told], [RuntimeWarning] * n_told)
            if told:
                self.assertIn("the next call like it is planned", str(told[0].message))
                self.assertEqual(told[0].filename, __file__)

    def test_texts_are_sizes_too(self):
        self.assertLessEqual(steps(1, budget="1GiB")[1].plan()["budget_bytes"], 2**30)

    def test_sublinear_memory_config(self):
        for config in (SublinearMemoryConfig(), SublinearMemoryConfig(genetic_nr_iter=5, num_worker=1)):
            state, step = steps(sublinear_memory_config=config)
            self.assertLess(step.plan()["arena_bytes"], self.plan["arena_bytes"])
            self.same(state)

    def test_progress_is_told(self):
        budget = int(self.plan["persistent_bytes"] + 0.5 * self.plan["arena_bytes"])
        told = []
        state, _ = steps(1, budget=budget, effort=3000, progress=lambda *how: told.append(how))
        aim, done, total, best, least = told[-1]
        self.assertTrue(isinstance(aim, str) and done > 0 and total > 0 and best >= least >= 0, told[-1])
        with contextlib.redirect_stderr(io.StringIO()) as shown:
            again, _ = steps(1, budget=budget, effort=3000, progress=True)
        self.assertRegex(shown.getvalue(), r"\Aplanning: [a-z ]+, \d+ of \d+ candidates.*\n\Z")  # a line in ten seconds

        class Terminal(io.StringIO):
            def isatty(self):
                return True

        with contextlib.redirect_stderr(Terminal()) as shown:
            steps(1, budget=budget, effort=3000)
        self.assertRegex(shown.getvalue(), r"\A\r\x1b\[Kplanning: [a-z ]+, \d+ of \d+ candidates")
        self.assertTrue(shown.getvalue().endswith("\r\x1b[K"))
        for name, value in state.items():
            np.testing.assert_array_equal(again[name], value)
        with contextlib.redirect_stderr(io.StringIO()) as shown:
            steps(1, budget=budget, effort=3000)
        self.assertEqual(shown.getvalue(), "")

        def interrupts(*how):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            steps(1, budget=budget, effort=3000, progress=interrupts)

    def test_what_is_raised_during_a_search_ends_it(self):
        """By a function that is told of progress, or a signal's handler that runs meanwhile."""
        budget = int(self.plan["persistent_bytes"] + 0.5 * self.plan["arena_bytes"])

        class Late(Exception):
            pass

        def raises(*how):
            raise Late("mine")

        with self.assertRaisesRegex(Late, "mine"):
            steps(1, budget=budget, effort=3000, progress=raises)
        before = signal.signal(signal.SIGALRM, raises)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            began = time.monotonic()
            with self.assertRaisesRegex(Late, "mine"):
                steps(1, budget=budget, effort=10**8, time_limit=60)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.assertLess(time.monotonic() - began, 50)

    def test_who_is_told_of_progress_may_be_dropped(self):
        class Trainer:
            def __init__(self):
                self.step = trace(lambda x: x + 1, progress=self.told)

            def told(self, *how):
                pass

        trainer = Trainer()
        trainer.step(tensor([1.0]))
        there = weakref.ref(trainer)
        del trainer
        gc.collect()
        self.assertIsNone(there())

    def test_dtr_config_is_a_budget(self):
        budget = int(self.plan["persistent_bytes"] + 0.7 * self.plan["arena_bytes"])
        state, step = steps(dtr_config=DTRConfig(eviction_threshold=budget))
        self.assertLessEqual(step.plan()["total_bytes"], budget)
        self.same(state)

    def test_without_reuse_or_fusing(self):
        state, step = steps(memory="none")
        self.assertGreater(step.plan()["arena_bytes"], self.plan["arena_bytes"])
        self.same(state)
        self.same(steps(opt_level=0)[0])

    def test_what_does_not_fit_says_what_would(self):
        with self.assertRaisesRegex(mge.OverBudget, "[0-9]") as raised:
            steps(1, budget="64KiB", effort=3000)
        self.assertNotIn("\n", str(raised.exception))
        steps(1, budget=raised.exception.least_bytes, effort=3000)
        with self.assertRaises(mge.OverBudget):
            steps(1, budget=raised.exception.least_bytes // 2, effort=3000)

    def test_configs_are_checked(self):
        for make, text in (
            (lambda: SublinearMemoryConfig(thresh_nr_try=-1), "thresh_nr_try -1"),
            (lambda: SublinearMemoryConfig(num_worker=0), "num_worker 0"), (lambda: DTRConfig(), "eviction_threshold"),
            (lambda: trace(sublinear_memory_config=SublinearMemoryConfig(), dtr_config=DTRConfig(1))(abs), "not both"),
            (lambda: trace(budget="1MiB", memory="none")(abs), "leave one of them out"), (lambda: trace(memory="budget")(abs), "11GiB"),
            (lambda: trace(memory="inplace")(abs), "none, in_place, sublinear, budget"), (lambda: trace(opt_level=9)(abs), "opt_level is 9"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                make()
        config = SublinearMemoryConfig()
        self.assertEqual((config.thresh_nr_try, config.genetic_nr_iter, config.genetic_pool_size, config.lb_memory_mb),
                         (10, 0, 20, 0))

    def test_megengines_variables_come_first(self):
        os.environ["MGB_SUBLINEAR_MEMORY_THRESH_NR_TRY"] = "many"
        try:
            with self.assertRaisesRegex(ValueError, "MGB_SUBLINEAR_MEMORY_THRESH_NR_TRY"):
                steps(1, sublinear_memory_config=SublinearMemoryConfig())
        finally:
            del os.environ["MGB_SUBLINEAR_MEMORY_THRESH_NR_TRY"]


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.step = steps(2)[1]

    def test_files_of_plans_and_reports(self):
        with tempfile.TemporaryDirectory() as folder:
            plan, page, figures = (os.path.join(folder, n) for n in ("plan.json", "report.html", "report.json"))
            self.step.save_plan(plan)
            self.step.report(page)
            self.step.report(figures)
            with open(plan, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["total_bytes"], self.step.plan()["total_bytes"])
            with open(page, encoding="utf-8") as file:
                self.assertIn("<html", file.read())
            with open(figures, encoding="utf-8") as file:
                report = json.load(file)
            self.assertEqual(report["schema"], "ebb.report/1")
            here = os.path.basename(__file__)
            places = {t["name"]: t["name"].partition(" (")[2].rstrip(")") for t in report["tensors"]}
            for name, place in places.items():
                if ".tensor" in name or ".argument" in name:
                    self.assertEqual(place, "", "what is given has no line")
                else:
                    self.assertRegex(place, rf"^{here}:[0-9]+$", name)
            self.assertGreaterEqual(len(set(places.values())), 3, "lines of the step and of its optimizer")
            with self.assertRaisesRegex(ValueError, "html"):
                self.step.report(page, format="pdf")

    def test_texts(self):
        self.assertIn("conv2d", self.step.text())
        self.assertIn("total without recomputation", self.step.report())
        with self.assertRaisesRegex(mge.TraceError, "no program 9"):
            self.step.plan(9)

    def test_figures_of_memory(self):
        before = mge.device.get_allocated_memory()
        x = tensor(np.zeros(2**20, np.float32))
        self.assertGreaterEqual(mge.device.get_allocated_memory() - before, 2**22)
        mge.device.reset_max_memory_stats()
        y = x + 1
        self.assertGreaterEqual(mge.device.get_max_allocated_memory(), 2**23)
        del x, y
        reserved = mge.device.get_reserved_memory()
        mge.device.coalesce_free_memory()
        self.assertLess(mge.device.get_reserved_memory(), reserved)
        self.assertLess(mge.device.get_allocated_memory(), before + 2**22)

    def test_the_block_counts_as_allocated(self):
        gc.collect()
        largest = mge.device.get_allocated_memory()  # no block of an earlier program is larger
        x = tensor(np.zeros(largest // 4 + 2**22, np.float32))
        before = mge.device.get_allocated_memory()
        total = trace(lambda x: (F.exp(x) * x).sum(), symbolic=True)(x)
        self.assertEqual(total.item(), 0)
        self.assertGreaterEqual(mge.device.get_allocated_memory() - before, 2**24)  # for it: one value, written in place
        mge.device.reset_max_memory_stats()
        self.assertEqual(mge.device.get_max_allocated_memory(), mge.device.get_allocated_memory())


if __name__ == "__main__":
    unittest.main()
