"""What ends a search in a process: Ctrl-C, and what is raised while it goes on."""

import os
import signal
import threading
import time
import unittest

import numpy as np

import ebb.functional as F
from ebb import tensor
from ebb.jit import trace

from test_process import run


class Interrupts(unittest.TestCase):
    def setUp(self):
        """A shell's background jobs ignore the signal, and so would Python."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)

    def test_ctrl_c_ends_a_search(self):
        """A step whose search would take long: the signal comes while the library works."""
        options = {"memory": "sublinear", "effort": 10**9, "symbolic": True}

        @trace(**options)
        def step(x):
            from ebb.autodiff import GradManager

            gm = GradManager().attach(x)
            with gm:
                y = x
                for _ in range(60):
                    y = F.sin(y * y)
                gm.backward(y.sum())
            return x.grad

        step._options["genetic_nr_iter"] = 10**6
        timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
        begin = time.monotonic()
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            step(tensor(np.ones((100, 100), np.float32)))
        timer.join()
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual((tensor(1) + 1).item(), 2)  # and all goes on

    PLANS = """
import json, os, signal, sys, threading, time
import ebb, ebb.functional as F
signal.signal(signal.SIGINT, signal.default_int_handler)
n = 200
values = [{"id": i, "name": f"v{i}", "bytes": 1000 + 37 * (i * 7919 % 101), "role": "activation"} for i in range(2 * n)]
ops = [{"id": i, "name": f"o{i}", "kind": "op", "phase": "forward" if i < n else "backward", "outputs": [i],
        "inputs": [i - 1] * (i > 0) + [2 * n - 1 - i] * (i >= n), "time_ns": 100 + i * 31 % 97, "scratch_bytes": 0}
       for i in range(2 * n)]
values[-1]["role"] = "output"
text = json.dumps({"schema": "ebb.graph/1", "name": "g", "fixed_bytes": 0, "values": values, "ops": ops}).encode()
def say(text):  # in one write: print() lets another thread in before the line ends
    sys.stdout.write(text + "\\n")
def plan():
    try:
        ebb._core.plan(text, {"memory": "budget", "budget": 60000, "effort": 10**9, "time_limit": 30})
    except BaseException as error:
        say(type(error).__name__)
def interrupt():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    except KeyboardInterrupt:
        say("main")
"""

    def test_ctrl_c_ends_plans_that_are_made_at_once(self):
        code = """
threads = [threading.Thread(target=plan) for _ in range(2)]
for thread in threads:
    thread.start()
time.sleep(1)
interrupt()
for thread in threads:
    thread.join()
interrupt()  # and the handler is Python's again
"""
        done = run(self.PLANS + code)
        self.assertEqual((sorted(done.stdout.split()), done.stderr), (["KeyboardInterrupt"] * 2 + ["main"] * 2, ""))

    def test_what_is_raised_during_a_search_ends_no_plan_beside_it(self):
        code = """
class Late(Exception):
    pass
def late(*how):
    raise Late
def plan_for_a_while():
    options = {"memory": "budget", "budget": 60000, "effort": 10**9, "time_limit": 3}
    say(json.loads(ebb._core.plan(text, options))["schema"])
planning = threading.Thread(target=plan_for_a_while)
planning.start()
time.sleep(0.5)
step = ebb.jit.trace(lambda x: F.exp(x * 2) + x, memory="sublinear", progress=late, symbolic=True)
try:
    step(ebb.tensor([1.0]))
except Late:
    say("late")
say(str(ebb.jit.trace(lambda x: x * 2, memory="sublinear", symbolic=True)(ebb.tensor([1.0])).item()))
planning.join()
"""
        done = run(self.PLANS + code)
        self.assertEqual((done.stdout.split(), done.stderr), (["late", "2.0", "ebb.plan/1"], ""))

    def test_ctrl_c_ends_a_plan_whatever_ends_beside_it(self):
        code = """
def plan_small_ones():
    while planning.is_alive():
        try:
            ebb._core.plan(small, {})
        except KeyboardInterrupt:
            pass
small = json.dumps({"schema": "ebb.graph/1", "name": "s", "values": [dict(values[0], role="output")], "ops": ops[:1]}).encode()
planning = threading.Thread(target=plan)
beside = threading.Thread(target=plan_small_ones)
planning.start()
beside.start()
time.sleep(1)
interrupt()
planning.join()
beside.join()
"""
        done = run(self.PLANS + code)
        self.assertEqual((sorted(done.stdout.split()), done.stderr), (["KeyboardInterrupt", "main"], ""))


if __name__ == "__main__":
    unittest.main()
