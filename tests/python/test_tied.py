"""A table of words that is the classifier's weight, too: its gradient is one table, to which the words' rows are added."""

import unittest

import numpy as np

import ebb.functional as F
import ebb.module as M
import ebb.optimizer as optim
from ebb import random, tensor
from ebb.autodiff import GradManager
from ebb.jit import trace

WORDS, WIDTH = 11, 5


class Tied(M.Module):
    def __init__(self, lookups=1):
        super().__init__()
        self.words, self.mix, self.lookups = M.Embedding(WORDS, WIDTH), M.Linear(WIDTH, WIDTH), lookups

    def forward(self, ids):
        x = F.embedding(ids, self.words.weight)
        for n in range(1, self.lookups):
            x = x + F.embedding((ids + n) % WORDS, self.words.weight)
        return F.linear(F.tanh(self.mix(x)), self.words.weight)


def training(make_step, lookups, optimizer):
    random.seed(4)
    net = Tied(lookups)
    gm, opt = GradManager().attach(net.parameters()), optimizer(net.parameters())
    rng = np.random.default_rng(7)

    def body(ids, labels, *, net, gm, opt):
        opt.clear_grad()
        with gm:
            loss = F.loss.cross_entropy(net(ids), labels)
            gm.backward(loss)
        opt.step()
        return loss

    step, losses = make_step(body), []
    for _ in range(5):
        ids, labels = (tensor(rng.integers(0, WORDS, 9).astype(np.int32)) for _ in range(2))
        losses.append(step(ids, labels, net=net, gm=gm, opt=opt).item())
    return {**net.state_dict(), "losses": np.array(losses, np.float32)}


class TiedWords(unittest.TestCase):
    def test_train_to_the_same_bits_traced_and_not(self):
        for lookups in (1, 2, 3):
            for optimizer in (lambda p: optim.SGD(p, lr=0.3, momentum=0.9), lambda p: optim.Adam(p, lr=0.02)):
                want = training(lambda body: body, lookups, optimizer)
                for symbolic in (False, True):
                    got = training(trace(symbolic=symbolic), lookups, optimizer)
                    for name in want:
                        self.assertEqual(got[name].tobytes(), want[name].tobytes(), f"{name}, {lookups} lookups")

    def test_have_the_sum_of_both_gradients(self):
        rng = np.random.default_rng(3)
        table, ids = rng.standard_normal((WORDS, WIDTH)).astype(np.float32), np.array([4, 0, 4, 10, 4], np.int32)
        one, other, both = tensor(table), tensor(table), tensor(table)
        apart, joined = GradManager().attach([one, other]), GradManager().attach([both])
        with apart:
            apart.backward((F.linear(F.embedding(tensor(ids), one), other) ** 2).sum())
        with joined:
            joined.backward((F.linear(F.embedding(tensor(ids), both), both) ** 2).sum())
        np.testing.assert_array_equal(both.grad.numpy(), other.grad.numpy() + one.grad.numpy())


if __name__ == "__main__":
    unittest.main()
