"""Recurrent layers are parts of the graphs: counted, planned, and the bits of PyTorch's own where oneDNN runs them."""

import unittest
import warnings

import torch
from torch import nn

import ebb.torch
from common import pair, peak_of_step, result, same

REPEATABLE = {"time_limit": 60, "effort": 4000}  # on a busy machine, too


class Recurrent(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.first, self.layers = nn.Linear(12, 16), kind(16, 20, **options)
        self.head = nn.Linear((options.get("proj_size") or 20) * (2 if options.get("bidirectional") else 1), 4)

    def forward(self, x):
        return self.head(self.layers(torch.tanh(self.first(x)))[0])


ROWS = {
    "two layers, dropout between them": {"num_layers": 2, "dropout": 0.4, "batch_first": True},
    "both ways, three layers": {"num_layers": 3, "dropout": 0.2, "bidirectional": True},
    "two layers, one after the other": {"num_layers": 2},
    "no biases": {"bias": False},
}


class Lstm(unittest.TestCase):
    def test_bits_and_bytes_are_those_of_the_layer(self):
        x = torch.randn(9, 7, 12)
        for name, options in ROWS.items():
            for budget in (None, 0.75) if len(options) > 1 else (None,):  # one layer's bytes are needed at once
                with self.subTest(name, budget=budget), warnings.catch_warnings():
                    warnings.simplefilter("error", UserWarning)
                    (plain, run), (twin, compiled) = pair(Recurrent(nn.LSTM, **options), budget=budget, **REPEATABLE)
                    self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
                    self.assertEqual(len(compiled.plans), 1)
                    self.assertLessEqual(peak_of_step(twin, compiled, x), 1.01 * compiled.planned_bytes)

    def test_its_workspace_is_counted(self):
        (_, _), (_, compiled) = pair(Recurrent(nn.LSTM))
        compiled(torch.randn(64, 32, 12)).sum().backward()
        sizes = {value["name"]: value["bytes"] for value in compiled.plans[0].values}
        self.assertGreater(max(sizes.values()), 4 * 64 * 32 * 20 * 4)  # four gates of each cell

    def test_fit_counts_the_workspace(self):
        model, x = Recurrent(nn.LSTM, num_layers=2), torch.randn(1, 32, 12)
        (_, _), (_, compiled) = pair(model)
        compiled(x.expand(64, -1, -1)).square().mean().backward()
        document = ebb.torch._fit.Step(model, [x], lambda m, x: m(x).square().mean()).estimated(64)
        guessed, found = (sorted(v["bytes"] for v in values)[-2:] for values in (document.values, compiled.plans[0].values))
        for a, b in zip(guessed, found):  # the two workspaces
            self.assertGreaterEqual(a, b)
            self.assertLessEqual(a, 1.15 * b)

    def test_without_gradients_it_is_the_layer_s(self):
        (plain, _), (_, compiled) = pair(Recurrent(nn.LSTM, num_layers=2).eval())
        with torch.no_grad():
            torch.testing.assert_close(plain(torch.ones(5, 3, 12)), compiled(torch.ones(5, 3, 12)))

    def test_in_groups(self):
        x, first, model = torch.randn(9, 7, 12), None, Recurrent(nn.LSTM, num_layers=2, dropout=0.4)
        for budget in (None, 0.8):
            (_, _), (twin, compiled) = pair(model, budget=budget, backend="inductor", **REPEATABLE)
            found = result(twin, compiled, x)
            first = first or found
            self.assertTrue(same(first, found))
            self.assertLessEqual(peak_of_step(twin, compiled, x), 1.10 * compiled.planned_bytes)


class Cells(unittest.TestCase):
    def test_dropout_between_layers_is_drawn(self):
        """PyTorch's own decomposition leaves it out."""
        x = torch.randn(6, 5, 12)
        kinds = ((nn.GRU, {}), (nn.RNN, {"bidirectional": True}), (nn.LSTM, {"proj_size": 6}))
        for kind, options in kinds:
            with self.subTest(kind.__name__):
                model = Recurrent(kind, num_layers=2, dropout=0.5, **options)
                (plain, run), (twin, compiled) = pair(model, time_limit=0.5)
                first = result(twin, compiled, x)
                for a, b in zip(result(plain, run, x), first):
                    torch.testing.assert_close(a, b)
                (_, _), (twin, compiled) = pair(model, budget=0.9, **REPEATABLE)
                self.assertTrue(same(first, result(twin, compiled, x)))
                self.assertLessEqual(peak_of_step(twin, compiled, x), 1.01 * compiled.planned_bytes)


if __name__ == "__main__":
    unittest.main()
