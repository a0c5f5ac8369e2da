"""The package in a process: threads, forks, the environment."""

import gc
import os
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import ebb as mge
import ebb.functional as F
from ebb import tensor
from ebb.jit import trace

from test_planned import CARD


def run(code, **environment):
    """A process of its own, with this one's extension."""
    core = sys.modules["ebb._core"].__spec__.origin
    threads = os.path.join(os.path.dirname(mge.__file__), "_threads.py")
    before = (
        "import sys, importlib.util\n"
        f"spec = importlib.util.spec_from_file_location('threads', {threads!r})\n"
        "threads = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(threads)\n"
        f"sys.path.insert(0, {os.path.dirname(os.path.dirname(mge.__file__))!r})\n"
        f"spec = importlib.util.spec_from_file_location('ebb._core', {core!r})\n"
        "with threads.asleep():\n"
        "    module = importlib.util.module_from_spec(spec)\n"  # which loads it
        "    sys.modules['ebb._core'] = module\n"
        "    spec.loader.exec_module(module)\n"
    )
    everything = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", before + code], capture_output=True, text=True, timeout=100,
                          env={name: value for name, value in everything.items() if value is not None})


CONVOLUTION = """
import hashlib, numpy as np, ebb, ebb.functional as F
from ebb.jit import trace
rng = np.random.default_rng(1)
x, w = (ebb.tensor(rng.standard_normal(shape).astype("float32")) for shape in ((4, 32, 30, 27), (48, 32, 3, 3)))
for call in (F.conv2d, trace(symbolic=True)(F.conv2d)):
    print(hashlib.sha256(call(x, w, padding=1).numpy().tobytes()).hexdigest())
"""


class Convolutions(unittest.TestCase):
    @unittest.skipUnless(mge._core.device() == "cpu", "other devices have no transformed tiles")
    def test_a_variable_asks_for_direct_ones_in_eager_and_traced_calls(self):
        bits = {}
        for said in (None, "0", "1"):
            done = run(CONVOLUTION, EBB_DIRECT_CONV=said)
            self.assertEqual(done.returncode, 0, done.stderr)
            eager, traced = done.stdout.split()
            self.assertEqual(eager, traced)
            bits[said] = eager
        self.assertEqual(bits[None], bits["0"])
        self.assertNotEqual(bits["0"], bits["1"])
        self.assertIn('EBB_DIRECT_CONV is "yes": write 0 or 1', run("", EBB_DIRECT_CONV="yes").stderr.splitlines()[-1])


class Threads(unittest.TestCase):
    def test_they_sleep_while_they_wait_unless_the_user_says_otherwise(self):
        code = "import os, ebb; print(os.environ.get('OMP_WAIT_POLICY'), os.environ.get('GOMP_SPINCOUNT'))"
        for said, policy, spins in ((None, "PASSIVE", "1000"), ("passive", "PASSIVE", "0"), ("active", "ACTIVE", "[0-9]{7,}")):
            done = run(code, OMP_WAIT_POLICY=said, GOMP_SPINCOUNT=None, KMP_BLOCKTIME=None, OMP_DISPLAY_ENV="verbose")
            self.assertEqual((done.returncode, done.stdout), (0, f"{said} None\n"), done.stderr)
            self.assertIn(f"OMP_WAIT_POLICY = '{policy}'", done.stderr)
            self.assertRegex(done.stderr, f"GOMP_SPINCOUNT = '{spins}'")

    def test_what_another_thread_waits_with_stays_until_it_had_its_turn(self):
        x, large = tensor([3.0]), tensor(np.ones((2048, 2048), np.float32))
        for _ in range(3):
            tape, seen = mge._core.Tape(), []
            tape.watch(x)
            y = x * x
            dy = tensor([1.0])
            waits = threading.Thread(target=lambda: seen.append(tape.gradients([y], [dy], [x])))
            works = threading.Thread(target=lambda: large @ large)
            works.start()
            time.sleep(0.02)
            waits.start()
            time.sleep(0.02)
            tape.close()
            works.join()
            waits.join()
            self.assertEqual(seen[0][0].item(), 6)

    def test_handles_are_of_lists(self):
        class Made:
            def __len__(self):
                return 1

            def __getitem__(self, i):
                return tensor([1.0]) * 2

        tape = mge._core.Tape()
        with self.assertRaisesRegex(TypeError, "a list or a tuple of tensors, got .*Made"):
            tape.gradients(Made(), [None], [])

    def test_several_use_one_device(self):
        wrong = []

        def work(seed):
            a = np.random.default_rng(seed).standard_normal((64, 64)).astype(np.float32)
            for _ in range(30):
                x = tensor(a)
                y = F.relu(x @ x) + x * 2
                if not np.allclose(y.numpy(), np.maximum(a @ a, 0) + 2 * a, rtol=1e-3, atol=1e-3):
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_others_run_during_a_long_op(self):
        ticks, stop = [], threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        x = tensor(np.ones((1200, 1200), np.float32))
        thread.start()
        begin = time.monotonic()
        for _ in range(10):
            y = x @ x
        y.numpy()
        end = time.monotonic()
        stop.set()
        thread.join()
        self.assertGreater(sum(begin < t < end for t in ticks), 3)


class Kept(unittest.TestCase):
    def test_nothing_is_kept_of_what_was_dropped(self):
        from ebb.autodiff import GradManager

        w = mge.Parameter([1.0, 2.0, 3.0])
        gm = GradManager().attach(w)
        step = trace(lambda x: (x * w).sum())

        def work():
            x = tensor(np.ones(3, np.float32))
            with gm:
                y = F.softmax((x * w + 1.5)[None], 1)[0, 1:].sum() + step(x)
                gm.backward(y)
            w.grad = None
            x[1:] = 3
            x += y.item()
            try:
                x + tensor([1.0, 2.0])
            except ValueError:
                pass
            return x.numpy().tolist(), mge._core.op("bn_stats")(tensor(np.ones((4, 2), np.float32)))

        for _ in range(20):
            work()
        gc.collect()
        values, blocks = mge._core.memory()["n_values"], sys.getallocatedblocks()
        for _ in range(500):
            work()
        gc.collect()
        self.assertLessEqual(mge._core.memory()["n_values"], values)
        self.assertLess(sys.getallocatedblocks() - blocks, 100)


class Forks(unittest.TestCase):
    def test_a_child_is_told_what_to_do(self):
        tensor([1.0])
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                tensor([1.0])
                text = "nothing was raised"
            except RuntimeError as error:
                text = str(error)
            os.write(write, text.encode())
            os._exit(0)
        os.waitpid(child, 0)
        text = os.read(read, 1000).decode()
        self.assertIn("spawn", text)
        self.assertNotIn("\n", text)

    FORKED = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of any fork beside threads, since Python 3.12
import ebb, ebb.functional as F
from ebb import tensor
from ebb.jit import trace
def use():
    step = trace(lambda x: F.relu(x) * 2, symbolic=True)
    return [step(tensor([1.0, -1.0])).tolist() for _ in range(2)][1]
def said(what):
    try:
        return what()
    except RuntimeError as error:
        return str(error)
def child(work):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        work()
        sys.stdout.flush()
        sys.exit(0)  # with all that was made: nothing may fail or hang
    print(os.waitpid(pid, 0)[1])
"""

    def test_after_the_import_both_go_on(self):
        done = run(self.FORKED + "child(lambda: print(use()))\nprint(use())")
        self.assertEqual((done.stdout.split("\n")[:3], done.stderr), (["[2.0, 0.0]", "0", "[2.0, 0.0]"], ""))

    def test_a_device_that_is_described_only_is_not_used(self):
        code = f"""
f = trace(lambda x: x + 1, device={CARD!r})
print(ebb._core.device("ref"))
child(lambda: print(use()))
"""
        done = run(self.FORKED + code)
        self.assertEqual((done.stdout.split("\n")[:3], done.stderr), (["ref", "[2.0, 0.0]", "0"], ""))

    def test_after_use_all_is_refused_in_one_line(self):
        code = """
x, step, tape = tensor([1.0]), trace(lambda x: x + 1), ebb._core.Tape()
step(x)
def work():
    for what in (use, lambda: x + 1, lambda: x.numpy(), lambda: x.shape, lambda: step(x), lambda: step.plan(),
                 lambda: tape.watch(x), lambda: ebb.random.seed(1), lambda: ebb._core.memory()):
        print(said(what))
child(work)
print((x + 1).item())
"""
        done = run(self.FORKED + code)
        lines = done.stdout.splitlines()
        self.assertEqual((len(lines), lines[9:], done.stderr), (11, ["0", "2.0"], ""))
        for line in lines[:9]:
            self.assertRegex(line, "forked from one that had used ebb.*spawn")


class Environment(unittest.TestCase):
    def test_an_import_that_it_failed_can_be_tried_again(self):
        code = ("import importlib.util, os, sys\nspec = importlib.util.spec_from_file_location('ebb._core', sys.argv[1])\n"
                "load = lambda: importlib.util.module_from_spec(spec)\ntry:\n    load()\n"
                "except ValueError:\n    os.environ['EBB_DIRECT_CONV'] = '0'\nprint(load().device())")
        done = subprocess.run([sys.executable, "-c", code, sys.modules["ebb._core"].__spec__.origin], capture_output=True, text=True,
                              timeout=100, env={**os.environ, "EBB_DIRECT_CONV": "yes"})
        self.assertEqual((done.stdout.strip(), done.returncode), (mge._core.device(), 0), done.stderr)

    def test_the_device_is_chosen_once(self):
        code = "import ebb; print((ebb.tensor([1.5]) + 1).item()); print(ebb._core.device())"
        self.assertEqual(run(code, EBB_DEVICE="ref").stdout.split(), ["2.5", "ref"])
        bad = run("import ebb; ebb.tensor([1])", EBB_DEVICE="abacus")
        self.assertNotEqual(bad.returncode, 0)
        self.assertIn("abacus", bad.stderr.strip().splitlines()[-1])
        with self.assertRaisesRegex(RuntimeError, "before the first tensor"):
            tensor([1.0])
            mge._core.device("shadow")
        self.assertEqual(mge.get_device_count("cpu"), 1)
        self.assertIn("cpu", [name for name, available, why in mge._core.devices()])

    def test_megengines_sample_of_level_3(self):
        """MGB_JIT_BACKEND chooses who makes code; none changes a bit."""
        code = """
import ebb, numpy as np, ebb.functional as F
from ebb.jit import trace
x = ebb.tensor(np.linspace(-2, 2, 1000).reshape(10, 100))
step = trace(lambda x: F.exp(x) * x + F.relu(x) * 0.5, symbolic=True, opt_level=3)
print(step(x).numpy().tobytes().hex() == (F.exp(x) * x + F.relu(x) * 0.5).numpy().tobytes().hex(), "fused" in step.text())
"""
        self.assertEqual(run(code, MGB_JIT_BACKEND="INTERP").stdout.split(), ["True", "True"])
        refused = run(code, MGB_JIT_BACKEND="NVRTC")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("jit NVRTC is of the device cuda", refused.stderr.strip().splitlines()[-1])

    def test_nothing_is_opened_by_an_import(self):
        self.assertEqual(run("import ebb", EBB_DEVICE="abacus").returncode, 0)

    def test_hub(self):
        @mge.hub.pretrained("https://example.org/net.pkl")
        def net(width):
            return width

        self.assertEqual(net(3), 3)
        with self.assertRaisesRegex(RuntimeError, "example.org"):
            net(3, pretrained=True)


if __name__ == "__main__":
    unittest.main()
