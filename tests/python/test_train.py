"""Training that must converge."""

import os
import tempfile
import unittest

import numpy as np

import ebb as mge
import ebb.data as data
import ebb.functional as F
import ebb.module as M
import ebb.optimizer as optim
from ebb.autodiff import GradManager
from ebb.jit import trace


def moons(n, seed):
    """Two half circles that reach into each other."""
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 2
    angle = rng.uniform(0, np.pi, n)
    x = np.stack([np.cos(angle), np.sin(angle)], 1) * np.where(label, -1, 1)[:, None]
    x += np.where(label, 1, 0)[:, None] * np.array([1.0, 0.5])
    return (x + 0.1 * rng.standard_normal((n, 2))).astype(np.float32), label.astype(np.int32)


class Resumed(unittest.TestCase):
    def trained(self, wrap, n_steps, state=None):
        """A net with dropout, noise of the device and of the host; from a checkpoint, if there is one."""
        mge.random.seed(3)
        net = M.Sequential(M.Linear(2, 16), M.ReLU(), M.Dropout(0.4), M.Linear(16, 2))
        gm, opt = GradManager().attach(net.parameters()), optim.Adam(net.parameters(), lr=0.01)
        if state:
            net.load_state_dict(state["net"])
            opt.load_state_dict(state["opt"])
            mge.random.set_rng_state(state["rng"])

        def step(x, noise):
            with gm:
                loss = F.loss.cross_entropy(net(x + mge.random.normal(0, 0.1, x.shape) + noise), labels)
                gm.backward(loss)
            opt.step().clear_grad()
            return loss

        step, (x, y) = wrap(step), moons(64, 1)
        labels = mge.tensor(y)
        losses = [step(mge.tensor(x), mge.random.gamma(2.0, size=x.shape)).item() for _ in range(n_steps)]
        return losses, {"net": net.state_dict(), "opt": opt.state_dict(), "rng": mge.random.get_rng_state()}

    def test_draws_go_on_where_a_checkpoint_stopped(self):
        for wrap in (lambda f: f, trace, trace(symbolic=True)):
            whole, end = self.trained(wrap, 8)
            first, state = self.trained(wrap, 5)
            with tempfile.TemporaryDirectory() as folder:
                mge.save(state, os.path.join(folder, "state"))
                mge.random.seed(99)
                rest, resumed = self.trained(wrap, 3, mge.load(os.path.join(folder, "state")))
            self.assertEqual(first + rest, whole)
            for name, value in end["net"].items():
                np.testing.assert_array_equal(resumed["net"][name], value, name)
            self.assertEqual(resumed["rng"], end["rng"])
        with self.assertRaisesRegex(ValueError, "what get_rng_state gave"):
            mge.random.set_rng_state({"seed": 1})
        mge.random.seed(5)
        before = mge.random.get_rng_state()
        mge.random.seed(6)
        now = mge.random.get_rng_state()
        for wrong in ({"host": {}}, {"seed": "5"}, {"draws": None}):
            with self.assertRaises((TypeError, ValueError)):
                mge.random.set_rng_state({**before, **wrong})
            self.assertEqual(mge.random.get_rng_state(), now)


class Moons(unittest.TestCase):
    def run_with(self, make):
        mge.random.seed(3)
        net = M.Sequential(M.Linear(2, 32), M.BatchNorm1d(32), M.ReLU(), M.Linear(32, 32), M.ReLU(), M.Linear(32, 2))
        gm, opt = GradManager().attach(net.parameters()), optim.Adam(net.parameters(), lr=0.01)
        schedule = optim.MultiStepLR(opt, [15])
        dataset = data.ArrayDataset(*moons(512, 1))
        loader = data.DataLoader(dataset, sampler=data.RandomSampler(dataset, batch_size=64, seed=0))

        def step(x, y):
            with gm:
                loss = F.loss.cross_entropy(net(x), y)
                gm.backward(loss)
            opt.step().clear_grad()
            return loss

        step = make(step)
        net.train()
        for _ in range(20):
            for x, y in loader:
                step(mge.tensor(x), mge.tensor(y))
            schedule.step()
        net.eval()
        x, y = moons(512, 2)
        return (F.argmax(net(mge.tensor(x)), 1) == mge.tensor(y)).mean().item(), net.state_dict()

    def test_nearly_all_are_told_apart_and_traces_change_no_bit(self):
        accuracy, want = self.run_with(lambda f: f)
        self.assertGreater(accuracy, 0.98)
        for options in ({}, {"symbolic": True}):
            also, state = self.run_with(trace(**options))
            self.assertEqual(also, accuracy)
            for name in want:
                np.testing.assert_array_equal(state[name], want[name], name)


class Batches(unittest.TestCase):
    def test_each_sample_once_an_epoch(self):
        x = np.arange(10)
        dataset = data.ArrayDataset(x, x * 2)
        for sampler, sizes in (
            (data.SequentialSampler(dataset, 4), [4, 4, 2]),
            (data.SequentialSampler(dataset, 4, drop_last=True), [4, 4]),
            (data.RandomSampler(dataset, 5, seed=1), [5, 5]), (None, [1] * 10),
        ):
            loader = data.DataLoader(dataset, sampler=sampler)
            batches = list(loader)
            self.assertEqual([len(b[0]) for b in batches], sizes)
            self.assertEqual(len(loader), len(sizes))
            for a, b in batches:
                np.testing.assert_array_equal(a * 2, b)
            seen = np.concatenate([b[0] for b in batches])
            self.assertEqual(len(set(seen.tolist())), sum(sizes))
        sampler = data.RandomSampler(dataset, 10, seed=1)
        self.assertNotEqual(*[next(iter(sampler)) for _ in range(2)])

    def test_what_is_refused(self):
        with self.assertRaisesRegex(ValueError, "one length"):
            data.ArrayDataset([1], [1, 2])
        with self.assertRaisesRegex(ValueError, "num_workers"):
            data.DataLoader(data.ArrayDataset([1]), num_workers=-2)


if __name__ == "__main__":
    unittest.main()
