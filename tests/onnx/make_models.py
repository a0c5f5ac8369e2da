#!/usr/bin/env python3
"""Makes the models in tests/onnx/models anew; needs the onnx package. A convolutional one whose batch is frozen at 1 in its
shapes, with what it should say in evaluation, and one with nodes that cannot be imported, one that joins the images of a batch of
two, and one with branches in a branch."""
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
