"""Modules: what is found in them, modes, states, hooks, and each kind of layer."""

import copy
import pickle
import unittest
from collections import OrderedDict

import numpy as np

import ebb.functional as F
import ebb.module as M
from ebb import Parameter, Tensor, tensor
from ebb.autodiff import GradManager
from ebb.module import init, mode

RNG = np.random.default_rng(3)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.conv = M.Conv2d(3, 4, 3, padding=1)
        self.bn = M.BatchNorm2d(4)
        self.heads = [M.Linear(4, 2), {"other": M.Linear(4, 3)}]
        self.scale = Parameter([2.0])
        self.same = self.conv

    def forward(self, x):
        x = F.relu(self.bn(self.conv(x)))
        return self.heads[0](F.flatten(F.adaptive_avg_pool2d(x, 1), 1)) * self.scale


class Inside(unittest.TestCase):
    def test_names_are_sorted_and_each_once(self):
        net = Net()
        self.assertEqual(
            [n for n, _ in net.named_parameters()],
            ["bn.bias", "bn.weight", "conv.bias", "conv.weight", "heads.0.bias", "heads.0.weight",
             "heads.1.other.bias", "heads.1.other.weight", "scale"],
        )
        self.assertEqual([n for n, _ in net.named_buffers()], ["bn.running_mean", "bn.running_var"])
        self.assertEqual([n for n, _ in net.named_children()], ["bn", "conv", "heads.0", "heads.1.other"])
        self.assertEqual([n for n, _ in net.named_modules()][0], "")
        self.assertEqual(len(list(net.modules())), 5)
        self.assertEqual(len(list(net.tensors())), 11)
        self.assertEqual([n for n, _ in net.named_parameters(recursive=False)], ["scale"])
        self.assertTrue(next(n for n, _ in net.named_parameters(prefix="net")).startswith("net.bn"))

    def test_apply_and_text(self):
        net, seen = Net(), []
        net.apply(lambda m: seen.append(type(m).__name__))
        self.assertEqual(seen.count("Linear"), 2)
        self.assertIn("(conv): Conv2d(3, 4, kernel_size=(3, 3)", repr(net))

    def test_hooks(self):
        net = M.Linear(2, 2)
        first = net.register_forward_pre_hook(lambda m, inputs: (inputs[0] * 0,))
        second = net.register_forward_hook(lambda m, inputs, outputs: outputs + 5)
        y = net(tensor([[1.0, 2.0]]))
        np.testing.assert_allclose(y.numpy(), net.bias.numpy()[None] + 5)
        first.remove()
        second.remove()
        np.testing.assert_allclose(net(tensor([[0.0, 0.0]])).numpy(), net.bias.numpy()[None])

    def test_copies_and_pickles_are_apart(self):
        net = Net()
        net.eval()
        for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
            self.assertFalse(other.bn.training)
            self.assertIs(other.same, other.conv)
            x = tensor(draw(2, 3, 4, 4))
            np.testing.assert_array_equal(other(x).numpy(), net(x).numpy())
            other.scale += 1
            self.assertEqual(net.scale.item(), 2)


class Fused(unittest.TestCase):
    def test_layers_under_one_name_are_their_layers(self):
        x = tensor(np.random.default_rng(3).standard_normal((2, 3, 6, 6)).astype(np.float32))
        one, both, three = M.ConvRelu2d(3, 4, 3, groups=1), M.ConvBn2d(3, 4, 3, momentum=0.5), M.ConvBnRelu2d(3, 4, 3)
        three.load_state_dict(both.state_dict())
        np.testing.assert_array_equal(one(x).numpy(), np.maximum(M.Conv2d.forward(one, x).numpy(), 0))
        y = both(x).numpy()
        np.testing.assert_array_equal(three(x).numpy(), np.maximum(y, 0))
        np.testing.assert_array_equal(y, both.bn(both.conv(x)).numpy())
        self.assertEqual(sorted(n for n, _ in both.named_parameters()), ["bn.bias", "bn.weight", "conv.bias", "conv.weight"])
        line = M.LinearRelu(6, 5)
        np.testing.assert_array_equal(line(x).numpy(), np.maximum(M.Linear.forward(line, x).numpy(), 0))


class Modes(unittest.TestCase):
    def test_train_and_eval_reach_all(self):
        net = Net()
        net.eval()
        self.assertFalse(any(m.training for m in net.modules()))
        net.train()
        self.assertTrue(all(m.training for m in net.modules()))
        net.train(False, recursive=False)
        self.assertEqual((net.training, net.bn.training), (False, True))

    def test_the_number_of_modes_comes_back(self):
        before = mode.now()
        net = Net()
        self.assertEqual(mode.now(), before)
        net.eval()
        evaluated = mode.now()
        self.assertNotEqual(evaluated, before)
        net.train()
        self.assertEqual(mode.now(), before)
        net.eval()
        self.assertEqual(mode.now(), evaluated)
        del net
        import gc

        gc.collect()
        self.assertEqual(mode.now(), before)


class State(unittest.TestCase):
    def test_a_state_makes_another_net_the_same(self):
        a, b, x = Net(), Net(), tensor(draw(2, 3, 4, 4))
        a(x)  # statistics move
        b.load_state_dict(pickle.loads(pickle.dumps(a.state_dict())))
        a.eval()
        b.eval()
        np.testing.assert_array_equal(a(x).numpy(), b(x).numpy())
        self.assertIsInstance(a.state_dict()["scale"], np.ndarray)
        self.assertIs(a.state_dict(keep_var=True)["scale"], a.scale)

    def test_names_and_shapes_are_checked(self):
        net = Net()
        state = net.state_dict()
        before = net.scale.item()
        del state["conv.bias"]
        state["more"] = np.zeros(1)
        with self.assertRaisesRegex(KeyError, "conv.bias.*more"):
            net.load_state_dict(state)
        net.load_state_dict(state, strict=False)
        state = net.state_dict()
        state["heads.0.weight"], state["bn.weight"] = np.zeros((4, 2)), np.full(4, 9.0)
        with self.assertRaisesRegex(ValueError, r"heads.0.weight.*\(2, 4\).*\(4, 2\)"):
            net.load_state_dict(state)
        self.assertEqual((net.scale.item(), net.bn.weight.numpy().flat[0]), (before, 1))

    def test_shapes_of_megengine_are_taken(self):
        net = M.Sequential(M.Conv2d(4, 6, 3, groups=2), M.BatchNorm2d(6))
        state = net.state_dict()
        self.assertEqual(state["0.weight"].shape, (2, 3, 2, 3, 3))
        w = draw(2, 3, 2, 3, 3)
        state["1.weight"] = np.arange(6.0).reshape(1, 6, 1, 1)
        for shape in (w.shape, (6, 2, 3, 3)):
            state["0.weight"] = w.reshape(shape)
            net.load_state_dict(state)
            np.testing.assert_array_equal(net[0].weight.numpy(), w)
        np.testing.assert_array_equal(net[1].weight.numpy(), np.arange(6).reshape(1, 6, 1, 1))

    def test_parents_keys_and_other_parameters(self):
        net = M.Module()
        net.parts = [M.Linear(2, 2, bias=False), {"x": M.Linear(2, 2)}]
        parts = net.parts[0], net.parts[1]["x"]
        told = list(net.named_modules(with_parent=True))
        self.assertEqual([n for n, _, _ in told], ["", "parts.0", "parts.1.x"])
        self.assertTrue(told[0][2] is None and told[1][1] is parts[0] and told[2][2] is net)
        self.assertEqual([p for _, p in parts[1].parameters(with_parent=True)], [parts[1]] * 2)
        other = Parameter(np.ones((2, 2), np.float32))
        self.assertEqual(parts[1].replace_param({4: other}, 3), 2)
        self.assertIs(parts[1].weight, other)
        with self.assertRaisesRegex(ValueError, "bias has shape"):
            parts[1].replace_param({0: other}, 0)
        net.parts.append({True: other})
        with self.assertRaisesRegex(AssertionError, "must be str, error key: True"):
            list(net.parameters())

    def test_by_a_function(self):
        net = M.Linear(2, 2)
        net.load_state_dict(lambda name, t: np.ones(t.shape) if name == "bias" else None, strict=False)
        np.testing.assert_array_equal(net.bias.numpy(), [1, 1])


class Layers(unittest.TestCase):
    def test_each_gives_its_shape_and_has_gradients(self):
        x = draw(2, 4, 6, 6)
        for layer, shape in (
            (M.Conv2d(4, 8, 3, 2, 1), (2, 8, 3, 3)), (M.Conv2d(4, 8, (3, 1), groups=2, bias=False), (2, 8, 4, 6)),
            (M.ConvTranspose2d(4, 3, 2, 2), (2, 3, 12, 12)), (M.BatchNorm2d(4), x.shape),
            (M.LayerNorm((6, 6)), x.shape),
            (M.GroupNorm(2, 4), x.shape), (M.InstanceNorm(4), x.shape), (M.MaxPool2d(2), (2, 4, 3, 3)),
            (M.AvgPool2d(3, 1, 1), x.shape), (M.AdaptiveAvgPool2d(2), (2, 4, 2, 2)), (M.ReLU(), x.shape),
            (M.LeakyReLU(0.1), x.shape), (M.PReLU(4), x.shape), (M.PReLU(), x.shape), (M.GELU(), x.shape),
            (M.SiLU(), x.shape), (M.Sigmoid(), x.shape), (M.Softmax(1), x.shape), (M.Linear(6, 5), (2, 4, 6, 5)),
            (M.Dropout(0.5), x.shape), (M.Identity(), x.shape), (M.AdaptiveMaxPool2d((1, 2)), (2, 4, 1, 2)),
            (M.Pad(((0, 0), (0, 0), (1, 2))), (2, 4, 9, 6)),
        ):
            given = tensor(x)
            gm = GradManager().attach([given, *layer.parameters()])
            with gm:
                y = layer(given)
                gm.backward((y * tensor(draw(*y.shape))).sum())
            self.assertEqual(y.shape, shape, repr(layer))
            for t in (given, *layer.parameters()):
                self.assertEqual(t.grad.shape, t.shape, repr(layer))
                self.assertTrue(np.isfinite(t.grad.numpy()).all() and t.grad.numpy().any(), repr(layer))

    def test_convolution_of_lines(self):
        layer = M.Conv1d(4, 6, 3, stride=2, padding=1, groups=2)
        self.assertEqual((layer.weight.shape, layer.bias.shape), ((2, 3, 2, 3), (1, 6, 1)))
        self.assertEqual(layer(tensor(draw(2, 4, 9))).shape, (2, 6, 5))

    def test_batch_norm_in_training_in_evaluation_and_frozen(self):
        bn, x = M.BatchNorm2d(3, momentum=0.8), draw(4, 3, 2, 2)
        y = bn(tensor(x))
        m, v = x.mean((0, 2, 3)), x.var((0, 2, 3))
        np.testing.assert_allclose(y.numpy().mean((0, 2, 3)), 0, atol=1e-5)
        np.testing.assert_allclose(bn.running_mean.numpy(), 0.2 * m.reshape(1, 3, 1, 1), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(bn.running_var.numpy(), 0.8 + 0.2 * v.reshape(1, 3, 1, 1) * 16 / 15, rtol=1e-4)
        bn.eval()
        kept = bn.running_mean.numpy()
        want = (x - kept.reshape(3, 1, 1)) / np.sqrt(bn.running_var.numpy().reshape(3, 1, 1) + 1e-5)
        np.testing.assert_allclose(bn(tensor(x)).numpy(), want, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(bn.running_mean.numpy(), kept)
        frozen = M.BatchNorm2d(3, freeze=True)
        frozen(tensor(x))
        np.testing.assert_array_equal(frozen.running_mean.numpy(), np.zeros((1, 3, 1, 1)))
        own = M.BatchNorm1d(3, track_running_stats=False, affine=False)
        own.eval()
        np.testing.assert_allclose(own(tensor(x[:, :, 0, 0])).numpy().mean(0), 0, atol=1e-5)
        with self.assertRaisesRegex(ValueError, "axes"):
            bn(tensor(draw(2, 3)))

    def test_shapes_of_batch_norms(self):
        x, data = draw(4, 3, 2, 2), tensor([])
        of_shape = {}
        for dim, shape in (("dim_1c11", (1, 3, 1, 1)), ("dim_c", (3,))):
            bn, sync = M.BatchNorm2d(3, param_dim=dim), M.SyncBatchNorm(3, param_dim=dim)
            data.set_value(x)
            of_shape[dim] = bn(data).numpy()
            np.testing.assert_array_equal(sync(data).numpy(), of_shape[dim])
            for t in bn.tensors():
                self.assertEqual(t.shape, shape)
            np.testing.assert_array_equal(sync.running_var.numpy(), bn.running_var.numpy())
            data.set_value(x[:, :, 0, 0])
            np.testing.assert_allclose(sync(data).numpy().mean(0), 0, atol=1e-5)
        np.testing.assert_array_equal(*of_shape.values())
        with self.assertRaisesRegex(ValueError, "param_dim"):
            M.BatchNorm2d(3, param_dim="dim_c1")

    def test_embedding(self):
        layer = M.Embedding(5, 3)
        np.testing.assert_array_equal(layer(tensor([[1, 4]])).numpy(), layer.weight.numpy()[[[1, 4]]])
        given = draw(5, 3)
        np.testing.assert_array_equal(M.Embedding(5, 3, initial_weight=Tensor(given)).weight.numpy(), given)

    def test_dropout_is_off_in_evaluation(self):
        layer, x = M.Dropout(0.5), tensor(np.ones(100, np.float32))
        self.assertTrue((layer(x).numpy() == 0).any())
        layer.eval()
        self.assertTrue((layer(x).numpy() == 1).all())

    def test_sequential(self):
        net = M.Sequential(OrderedDict(a=M.Linear(2, 3), b=M.ReLU(), c=M.Linear(3, 1)))
        self.assertEqual(net(tensor(draw(4, 2))).shape, (4, 1))
        self.assertEqual((len(net), net.layer_keys), (3, ["a", "b", "c"]))
        self.assertIs(net[0], net.a)
        self.assertEqual(len(net[1:]), 2)
        net[1] = M.Sigmoid()
        self.assertIsInstance(net.b, M.Sigmoid)
        del net[0]
        self.assertEqual(net.layer_keys, ["b", "c"])
        plain = M.Sequential(M.ReLU(), M.Linear(2, 2))
        self.assertEqual([n for n, _ in plain.named_parameters()], ["1.bias", "1.weight"])


class First(unittest.TestCase):
    def test_values(self):
        w = Parameter(np.zeros((64, 32, 3, 3), np.float32))
        self.assertEqual(init.calculate_fan_in_and_fan_out(w), (288, 576))
        for fill, std in (
            (lambda: init.normal_(w, 0, 0.5), 0.5), (lambda: init.uniform_(w, -1, 1), 3**-0.5),
            (lambda: init.msra_normal_(w, mode="fan_out", nonlinearity="relu"), (2 / 576) ** 0.5),
            (lambda: init.msra_uniform_(w), (2 / 288) ** 0.5), (lambda: init.xavier_normal_(w), (2 / 864) ** 0.5),
            (lambda: init.xavier_uniform_(w), (2 / 864) ** 0.5),
        ):
            fill()
            self.assertAlmostEqual(w.numpy().std() / std, 1, delta=0.03)
        init.ones_(w)
        self.assertTrue((w.numpy() == 1).all())
        self.assertAlmostEqual(M.Linear(100, 200).weight.numpy().std(), 0.1, delta=0.01)
        with self.assertRaisesRegex(ValueError, "fan_in or fan_out"):
            init.msra_normal_(w, mode="both")


if __name__ == "__main__":
    unittest.main()
