"""Optimizers against their formulas in NumPy, step by step."""

import unittest

import numpy as np

import ebb.optimizer as optim
from ebb import Parameter, tensor

STEPS = 5


def run(make, formula, **settings):
    """Parameters after some steps, by the optimizer and by formula(p, g, state, n)."""
    rng = np.random.default_rng(5)
    first = [rng.standard_normal(s).astype(np.float32) for s in ((3, 4), (2, 3, 2, 2), ())]
    params = [Parameter(p) for p in first]
    opt = make(params, **settings)
    wants, states = [p.astype(np.float64) for p in first], [{} for _ in first]
    for n in range(1, STEPS + 1):
        for i, p in enumerate(params):
            g = rng.standard_normal(p.shape).astype(np.float32)
            p.grad = tensor(g)
            wants[i] = formula(wants[i], g.astype(np.float64), states[i], n)
        opt.step().clear_grad()
        assert all(p.grad is None for p in params)
    for p, want in zip(params, wants):
        np.testing.assert_allclose(p.numpy(), want, rtol=2e-5, atol=2e-6)


class Formulas(unittest.TestCase):
    def test_sgd(self):
        for momentum, nesterov, decay in ((0, False, 0), (0, False, 0.1), (0.9, False, 0.1), (0.9, True, 0.1)):

            def formula(p, g, state, n):
                g = g + decay * p
                if not momentum:
                    return p - 0.1 * g
                v = state["v"] = momentum * state.get("v", 0) + g
                return p - 0.1 * (g + momentum * v if nesterov else v)

            run(optim.SGD, formula, lr=0.1, momentum=momentum, nesterov=nesterov, weight_decay=decay)

    def test_adam_and_adamw(self):
        for kind, decay in ((optim.Adam, 0), (optim.Adam, 0.1), (optim.AdamW, 0.1)):

            def formula(p, g, state, n):
                if kind is optim.Adam:
                    g = g + decay * p
                m = state["m"] = 0.8 * state.get("m", 0) + 0.2 * g
                v = state["v"] = 0.95 * state.get("v", 0) + 0.05 * g * g
                step = m / (1 - 0.8**n) / (np.sqrt(v / (1 - 0.95**n)) + 1e-6)
                return p - 0.1 * (step + (decay * p if kind is optim.AdamW else 0))

            run(kind, formula, lr=0.1, betas=(0.8, 0.95), eps=1e-6, weight_decay=decay)

    def test_adagrad(self):
        def formula(p, g, state, n):
            g = g + 0.1 * p
            s = state["s"] = state.get("s", 0) + g * g
            return p - 0.1 / (1 + (n - 1) * 0.5) * g / np.sqrt(s + 1e-6)

        run(optim.Adagrad, formula, lr=0.1, lr_decay=0.5, eps=1e-6, weight_decay=0.1)

    def test_adadelta(self):
        def formula(p, g, state, n):
            g = g + 0.1 * p
            s = state["s"] = 0.8 * state.get("s", 0) + 0.2 * g * g
            d = np.sqrt(state.get("u", 0) + 1e-4) / np.sqrt(s + 1e-4) * g
            state["u"] = 0.8 * state.get("u", 0) + 0.2 * d * d
            return p - 0.5 * d

        run(optim.Adadelta, formula, lr=0.5, rho=0.8, eps=1e-4, weight_decay=0.1)


    def test_lamb(self):
        for decay, corrected, always in ((0, True, False), (0.1, True, False), (0.1, False, False), (0, True, True)):

            def formula(p, g, state, n):
                m = state["m"] = 0.8 * state.get("m", 0) + 0.2 * g
                v = state["v"] = 0.95 * state.get("v", 0) + 0.05 * g * g
                if corrected:
                    m, v = m / (1 - 0.8**n), v / (1 - 0.95**n)
                d = m / (np.sqrt(v) + 1e-6) + decay * p
                return p - 0.1 * d * (np.linalg.norm(p) / np.linalg.norm(d) if decay or always else 1)

            run(optim.LAMB, formula, lr=0.1, betas=(0.8, 0.95), eps=1e-6, weight_decay=decay,
                bias_correction=corrected, always_adapt=always)

    def test_lamb_of_zeros(self):
        p = Parameter([0.0, 0.0])
        opt = optim.LAMB([p], lr=0.5, always_adapt=True)
        p.grad = tensor([1.0, 0.0])
        opt.step()
        np.testing.assert_allclose(p.numpy(), [-0.5, 0], rtol=1e-5)
        q = Parameter([1.0])
        opt = optim.LAMB([q], lr=0.5, always_adapt=True)
        q.grad = tensor([0.0])
        opt.step()
        self.assertEqual(q.item(), 1)


class Groups(unittest.TestCase):
    def test_each_has_its_settings(self):
        a, b = Parameter([1.0]), Parameter([1.0])
        opt = optim.SGD([{"params": a}, {"params": [b], "lr": 0.5}], lr=0.1)
        a.grad = b.grad = tensor([1.0])
        opt.step()
        np.testing.assert_allclose([a.item(), b.item()], [0.9, 0.5])

    def test_without_a_gradient_nothing_changes(self):
        a, b = Parameter([1.0]), Parameter([1.0])
        opt = optim.Adam([a, b], lr=0.1)
        a.grad = tensor([1.0])
        opt.step()
        state = opt.state_dict()["state"]
        self.assertEqual((b.item(), state[0]["step"], state[1]["step"]), (1, 1, 0))

    def test_what_is_refused(self):
        a = Parameter([1.0])
        for make, error, text in (
            (lambda: optim.SGD([], lr=0.1), ValueError, "no parameters"),
            (lambda: optim.SGD([a], lr=-1), ValueError, "lr -1"),
            (lambda: optim.SGD([tensor([1.0])], lr=0.1), TypeError, "Parameters"),
            (lambda: optim.SGD(3, lr=0.1), TypeError, "int"),
            (lambda: optim.SGD([a, ], lr=0.1, nesterov=True), ValueError, "nesterov"),
            (lambda: optim.Adam([a], lr=0.1, betas=(1, 0.9)), ValueError, "beta"),
            (lambda: optim.SGD([{"params": a}, {"params": a}], lr=0.1), ValueError, "two groups"),
        ):
            with self.assertRaisesRegex(error, text):
                make()

    def test_a_state_goes_on_where_it_was(self):
        for make in (
            lambda p: optim.SGD(p, lr=0.1, momentum=0.9), lambda p: optim.Adam(p, lr=0.1), lambda p: optim.Adagrad(p),
            lambda p: optim.Adadelta(p), lambda p: optim.LAMB(p, lr=0.1, weight_decay=0.1),
        ):
            a = Parameter([1.0, 2.0])
            one = make([a])
            for _ in range(3):
                a.grad = tensor([0.5, -1.0])
                one.step()
            b = Parameter(a)
            two = make([b])
            two.load_state_dict(one.state_dict())
            for p, opt in ((a, one), (b, two)):
                p.grad = tensor([1.0, 1.0])
                opt.step()
            np.testing.assert_array_equal(a.numpy(), b.numpy())

    def test_a_momentum_that_comes_with_a_state_has_its_buffer(self):
        a, b = Parameter([1.0]), Parameter([1.0])
        one, two = optim.SGD([a], lr=0.1, momentum=0.9), optim.SGD([b], lr=0.5)
        a.grad = b.grad = tensor([1.0])
        one.step()
        two.load_state_dict(one.state_dict())
        self.assertEqual(two.state_dict()["state"], one.state_dict()["state"])
        b.set_value(a)
        one.step()
        two.step()
        self.assertEqual(a.item(), b.item())

    def test_schedules(self):
        a = Parameter([1.0])
        opt = optim.SGD([a], lr=1.0)
        schedule = optim.MultiStepLR(opt, [2, 4], gamma=0.1)
        rates = []
        for _ in range(5):
            rates.append(opt.param_groups[0]["lr"])
            schedule.step()
        np.testing.assert_allclose(rates, [1, 1, 0.1, 0.1, 0.01])
        other = optim.MultiStepLR(optim.SGD([a], lr=1.0), [2, 4])
        other.load_state_dict(schedule.state_dict())
        self.assertEqual(other.current_epoch, 5)


class Clipping(unittest.TestCase):
    def test_by_norm(self):
        for ord in (1.0, 2.0):
            a, b = Parameter([1.0]), Parameter(np.zeros((1, 2, 1, 1), np.float32))
            a.grad, b.grad = tensor([3.0]), tensor(np.array([-4.0, 12]).reshape(1, 2, 1, 1))
            total = np.linalg.norm([3, -4, 12], ord)
            self.assertAlmostEqual(optim.clip_grad_norm([a, b], 1.3, ord).item(), total, places=4)
            got = [a.grad.item(), *b.grad.numpy().ravel()]
            np.testing.assert_allclose(got, np.array([3, -4, 12]) * 1.3 / total, rtol=1e-5)
            optim.clip_grad_norm([a, b], 5.0, ord)
            np.testing.assert_allclose([a.grad.item(), *b.grad.numpy().ravel()], got)

    def test_by_value(self):
        a = Parameter([1.0, 2.0, 3.0])
        a.grad = tensor([-5.0, 0.5, 5.0])
        optim.clip_grad_value(a, -1, 2)
        self.assertEqual(a.grad.tolist(), [-1, 0.5, 2])


if __name__ == "__main__":
    unittest.main()
