"""A compiled model in the place of the model, or of torch.compile's; and whether its budget is in force at all."""

import copy
import io
import pickle
import unittest
import warnings

import torch
from torch import nn

import ebb.torch
from common import pair, result, same

QUICK = {"costs": "roofline", "time_limit": 0.5}


class Named(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.width, self.layers = width, nn.Sequential(*[nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Dropout(0.1)) for _ in range(4)])

    def forward(self, x):
        return self.layers(x)

    def generate(self):
        return self.width + 1


class Momentum(nn.Module):
    """PyTorch reads how many batches there were, a number that batch norm takes as no symbol, in a loop: torch.compile gives up the whole function."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.BatchNorm1d(32, momentum=None) for _ in range(2)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class DropIn(unittest.TestCase):
    def test_attributes_are_the_model_s(self):
        torch._dynamo.reset()
        model = Named()
        compiled = ebb.torch.compile(model, budget=0.9, **QUICK)
        self.assertEqual((compiled.width, compiled.generate(), compiled.layers), (32, 33, model.layers))
        compiled.width = 5
        self.assertEqual((model.width, compiled.generate()), (5, 6))
        with self.assertRaises(AttributeError):
            compiled.height  # noqa: B018
        self.assertEqual(list(compiled.state_dict()), list(torch.compile(model).state_dict()))
        self.assertFalse(ebb.torch.compile(Named().eval()).training)

    def test_copies_and_what_is_saved_train_alike(self):
        x = torch.randn(64, 32)
        (plain, run), (twin, compiled) = pair(Named(), budget=0.7, **QUICK)
        expected, file = result(plain, run, x), io.BytesIO()
        self.assertTrue(same(expected, result(twin, compiled, x)))
        torch.save(compiled, file)
        file.seek(0)
        for again in (pickle.loads(pickle.dumps(compiled)), copy.deepcopy(compiled), torch.load(file, weights_only=False)):
            self.assertIsNot(again.model, twin)
            self.assertTrue(same(expected, result(again.model, again, x)))
            self.assertEqual(again.planned_bytes, compiled.planned_bytes)

    def test_decorators_and_options(self):
        torch._dynamo.reset()

        @ebb.torch.compile(budget=0.7, **QUICK)
        def step(x):
            for _ in range(5):
                x = x.sin() * x
            return x

        step(torch.randn(256, 16, requires_grad=True)).sum().backward()
        self.assertTrue(step.plans)
        with self.assertRaisesRegex(TypeError, r"^ebb.torch.compile has no mode=: it takes model, budget, .*fullgraph, time_limit, effort$"):
            ebb.torch.compile(Named(), mode="max-autotune")
        with self.assertRaises(torch._dynamo.exc.Unsupported):
            ebb.torch.compile(lambda x: torch._dynamo.graph_break() or x + 1, fullgraph=True)(torch.ones(2))


class InForce(unittest.TestCase):
    def test_a_budget_that_is_not_in_force_is_told(self):
        torch._dynamo.reset()
        compiled = ebb.torch.compile(Momentum(), budget=0.7, **QUICK)
        with self.assertWarnsRegex(UserWarning, r"nothing was planned, the budget is NOT in force: graph break in loop"):
            compiled(torch.randn(8, 32)).sum().backward()
        self.assertFalse(compiled.plans)

    def test_as_many_models_as_there_are(self):
        torch._dynamo.reset()
        with warnings.catch_warnings(), torch._dynamo.config.patch(recompile_limit=2, accumulated_recompile_limit=3):
            warnings.simplefilter("error", UserWarning)
            for _ in range(5):
                compiled = ebb.torch.compile(nn.Sequential(nn.Linear(8, 8), nn.Tanh()), budget=1.0, **QUICK)
                compiled(torch.randn(4, 8)).sum().backward()
                self.assertTrue(compiled.plans)

    def test_compiled_twice(self):
        for model in (ebb.torch.compile(Named()), nn.Sequential(ebb.torch.compile(Named()))):
            with self.assertRaisesRegex(ValueError, "is compiled by ebb.torch already"):
                ebb.torch.compile(model)


if __name__ == "__main__":
    unittest.main()
