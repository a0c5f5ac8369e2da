#!/usr/bin/env python3
"""Makes the models in tests/onnx/models anew; needs the onnx package. A convolutional one whose batch is frozen at 1 in its
shapes, with what it should say in evaluation, and one with nodes that cannot be imported, one that joins the images of a batch of
two, one with branches in a branch, and one of a recurrent layer and a loop."""
import pathlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

FOLDER = pathlib.Path(__file__).parent / "models"
rng = np.random.default_rng(7)


def tensor(name, *shape, positive=False):
    data = rng.standard_normal(shape).astype("float32") * 0.3
    return numpy_helper.from_array(np.abs(data) + 0.5 if positive else data, name)


def write(name, nodes, inputs, outputs, tensors):
    graph = helper.make_graph(nodes, name, inputs, outputs, tensors)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), FOLDER / f"{name}.onnx")


def info(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


node = helper.make_node
write("frozen", [
    node("Conv", ["x", "w", "b"], ["c"], "conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    node("BatchNormalization", ["c", "gamma", "beta", "mean", "var"], ["n"], "bn"),
    node("Relu", ["n"], ["r"], "relu"),
    node("MaxPool", ["r"], ["p"], "pool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    node("Reshape", ["p", "flat"], ["f"], "flatten"),
    node("MatMul", ["f", "fc"], ["m"], "fc"),
    node("Add", ["m", "fcb"], ["a"], "fc_bias"),
    node("Softmax", ["a"], ["y"], "softmax", axis=-1),
], [info("x", [1, 3, 8, 8])], [info("y", [1, 5])], [
    tensor("w", 4, 3, 3, 3), tensor("b", 4), tensor("gamma", 4, positive=True), tensor("beta", 4), tensor("mean", 4),
    tensor("var", 4, positive=True), numpy_helper.from_array(np.array([1, 64], "int64"), "flat"), tensor("fc", 64, 5), tensor("fcb", 5),
])
write("refused", [
    node("NonZero", ["x"], ["i"], "where"),
    node("Relu", ["x"], ["r"], "fine"),
    node("Det", ["r"], ["y"], "determinant"),
], [info("x", ["batch", 4, 4])], [info("y", ["batch"]), helper.make_tensor_value_info("i", TensorProto.INT64, [3, None])], [])
write("joined", [
    node("Reshape", ["x", "flat"], ["f"], "join"),
    node("MatMul", ["f", "fc"], ["y"], "fc"),
], [info("x", [2, 8])], [info("y", [1, 5])], [numpy_helper.from_array(np.array([1, 16], "int64"), "flat"), tensor("fc", 16, 5)])


def branch(name, nodes, outputs, tensors=()):
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(y, TensorProto.FLOAT, None) for y in outputs], tensors)


write("branches", [
    node("Shape", ["x"], ["s"], "sizes"),
    node("Gather", ["s", "one"], ["g"], "width"),
    node("Equal", ["g", "eight"], ["wide"], "wide"),
    node("If", ["wide"], ["y"], "if",
         then_branch=branch("then", [
             node("MatMul", ["x", "w"], ["m"], "fc"),
             node("If", ["wide"], ["z"], "inner", then_branch=branch("t", [node("Add", ["m", "b"], ["a"], "bias")], ["a"]),
                  else_branch=branch("e", [node("Sub", ["m", "b"], ["d"], "less")], ["d"])),
         ], ["z"], [tensor("w", 8, 5)]),
         else_branch=branch("else", [node("Neg", ["x"], ["n"], "neg")], ["n"])),
], [info("x", ["batch", 8])], [info("y", ["batch", 5])], [
    numpy_helper.from_array(np.array(1, "int64"), "one"), numpy_helper.from_array(np.array(8, "int64"), "eight"), tensor("b", 5)])


def whole_number(name, n):
    return numpy_helper.from_array(np.array(n, "int64"), name)


def round_of(name, nodes, state, tensors):
    """A loop's body: its state goes on, and so does the loop."""
    inputs = [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("on", TensorProto.BOOL, []), info("h", None)]
    outputs = [helper.make_tensor_value_info("still", TensorProto.BOOL, []), helper.make_tensor_value_info(state, TensorProto.FLOAT, None)]
    return helper.make_graph([*nodes, node("Identity", ["on"], ["still"], "go")], name, inputs, outputs, tensors)


write("recurrent", [
    node("LSTM", ["x", "w", "r", "b"], ["y1", "", ""], "both_ways", hidden_size=12, direction="bidirectional"),
    node("Transpose", ["y1"], ["t"], "beside", perm=[0, 2, 1, 3]),
    node("Reshape", ["t", "wide"], ["f"], "flat"),
    node("GRU", ["f", "gw", "gr", "gb"], ["", "y2"], "forward", hidden_size=16, linear_before_reset=1),
    node("Squeeze", ["y2", "first"], ["s"], "last"),
    node("Loop", ["rounds", "", "s"], ["l"], "twice",
         body=round_of("again", [node("MatMul", ["h", "lw"], ["m"], "fc"), node("Tanh", ["m"], ["n"], "bend")], "n", [tensor("lw", 16, 16)])),
    node("MatMul", ["l", "fc"], ["y"], "out"),
], [info("x", [24, "batch", 6])], [info("y", ["batch", 5])], [
    tensor("w", 2, 48, 6), tensor("r", 2, 48, 12), tensor("b", 2, 96), tensor("gw", 1, 48, 24), tensor("gr", 1, 48, 16), tensor("gb", 1, 96),
    numpy_helper.from_array(np.array([24, -1, 24], "int64"), "wide"), numpy_helper.from_array(np.array([0], "int64"), "first"), whole_number("rounds", 2),
    tensor("fc", 16, 5)])
