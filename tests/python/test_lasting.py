"""Many traced calls of many shapes, some of which fail: neither Python's objects nor the library's bytes pile up.

EBB_TEST_CALLS sets how many calls; 10,000 take about ten seconds.
"""

import gc
import os
import resource
import sys
import unittest

import numpy as np

import ebb as mge
import ebb.functional as F
import ebb.module as M
import ebb.optimizer as optim
from ebb.autodiff import GradManager
from ebb.jit import trace

SHAPES = 100
CALLS = max(int(os.environ.get("EBB_TEST_CALLS", 1500)), 5 * SHAPES)


class Broken(Exception):
    pass


class Lasting(unittest.TestCase):
    def held(self):
        gc.collect()
        return {
            "objects": len(gc.get_objects()),
            "blocks": sys.getallocatedblocks(),
            "bytes": mge.device.get_allocated_memory(),
            "pool": mge.device.get_reserved_memory(),
            "process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        }

    def check(self, symbolic):
        net = M.Sequential(M.Linear(6, 5), M.ReLU(), M.Linear(5, 3))
        gm = GradManager().attach(net.parameters())
        opt = optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

        @trace(symbolic=symbolic)
        def step(x, y, fails):
            opt.clear_grad()
            with gm:
                loss = F.loss.cross_entropy(net(x), y)
                gm.backward(loss)
            if fails:
                raise Broken
            opt.step()
            return loss

        def calls(first, last):
            for i in range(first, last):
                n = 1 + i % SHAPES
                x, y = mge.tensor(np.full((n, 6), i % 7, np.float32)), mge.tensor(np.zeros(n, np.int32))
                try:
                    self.assertTrue(np.isfinite(step(x, y, i % 10 == 9).item()))
                except Broken:
                    self.assertEqual(i % 10, 9)

        calls(0, 4 * SHAPES)
        before = self.held()
        calls(4 * SHAPES, CALLS)
        after = self.held()
        grown = {name: after[name] - before[name] for name in before}
        self.assertEqual((grown["bytes"], grown["pool"]), (0, 0), grown)
        self.assertLess(grown["objects"], 20, grown)
        self.assertLess(grown["blocks"], 200, grown)
        self.assertLess(grown["process"], 4096, grown)  # KiB
        return grown

    def test_recorded_as_it_runs(self):
        self.check(False)

    def test_recorded_before_it_runs(self):
        self.check(True)

    def test_more_shapes_than_are_remembered_of_an_op_that_is_several(self):
        norm = mge._core.op("layer_norm")
        for n in range(1, 8300):
            rows, wide = 1 + n // 90, 1 + n % 90
            got = norm(mge.tensor(np.ones((rows, wide), np.float32)), F.ones(wide), F.ones(wide), eps=1e-5)
        np.testing.assert_array_equal(got.numpy(), 1)

    def test_gradients_that_pile_up_are_held_once(self):
        """Each call reads the sum of the one before it; recordings of sums that are no more go with them."""
        for symbolic in (False, True):
            w = mge.Parameter(np.ones((64, 64), np.float32))
            gm = GradManager().attach(w)

            @trace(symbolic=symbolic)
            def step(x):
                with gm:
                    gm.backward((x @ w).sum())

            held = []
            for _ in range(20):
                step(mge.tensor(np.ones((2, 64), np.float32)))
                held.append(mge.device.get_allocated_memory())
            self.assertLess(held[-1], held[5] + 64 * 64 * 4)
            self.assertLess(step.facts()["n_recordings"], 5)


if __name__ == "__main__":
    unittest.main()
