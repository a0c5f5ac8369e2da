"""What ops of ATen become: the registry, and how a node's arguments reach a rule. The rules are in _ops_*.py.

A rule is called with the Text and the op's arguments by the names that its schema gives them: tensors as Values, numbers as they are.
It names each argument that it heeds; one that it does not name must be at its default, or the node is refused."""

import torch

from ._text import Refused, Value

RULES = {}
HEEDLESS = ("memory_format", "non_blocking", "copy", "pin_memory", "layout", "device", "cudnn_enabled", "cudnn_enable", "sparse", "implicit")  # no element
DTYPES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.bool: "bool",
          torch.int64: "i32", torch.int32: "i32", torch.int16: "i32", torch.int8: "i32", torch.uint8: "i32"}


NARROW = (torch.uint8, torch.int8, torch.int16)
COUNTING = ("add", "sub", "rsub", "mul", "neg", "abs", "pow", "square", "sum", "prod", "cumsum")
CASTS = ("to", "_to_copy", "type_as")


def rule(*names):
    def register(function):
        for name in names:
            RULES[name] = function
        return function

    return register


def name_of(target):
    """"conv2d.default" of aten.conv2d.default; other namespaces keep theirs."""
    text = str(target)
    return text.removeprefix("aten.")


def decompositions():
    """PyTorch's own for ops without a rule; those with one stay whole."""
    table = torch.export.default_decompositions().materialize()
    return {op: how for op, how in table.items() if name_of(op) not in RULES}


def has_effect(target):
    schema = getattr(target, "_schema", None)
    return schema is not None and schema.is_mutable


def dtype_of(torch_dtype):
    if torch_dtype not in DTYPES:
        raise Refused(f"{str(torch_dtype).removeprefix('torch.')}: Ebb has float32, float64, float16, bfloat16, int32 and bool")
    return DTYPES[torch_dtype]


def node_dtype(node):
    return dtype_of(node.meta["val"].dtype)


def wraps(node):
    """Whether its result may run over, or be cut off, in fewer than 32 bits, where Ebb has 32."""
    value = node.meta.get("val")
    kind = getattr(value, "dtype", None)
    if kind not in NARROW:
        return False
    name = name_of(node.target).split(".")[0]
    return name in COUNTING or name in CASTS and any(n.meta["val"].dtype not in (kind, torch.bool) for n in node.all_input_nodes)


def arguments(node, value_of):
    """{name: Value or number} of a node's call. Those in HEEDLESS are left out."""
    schema, given = node.target._schema, {}
    for i, argument in enumerate(schema.arguments):
        if i < len(node.args):
            found = node.args[i]
        elif argument.name in node.kwargs:
            found = node.kwargs[argument.name]
        else:
            found = argument.default_value
        given[argument.name] = (torch.fx.map_arg(found, value_of), found == argument.default_value if isinstance(
            found, (int, float, bool, str, type(None))) else False)
    return {name: pair for name, pair in given.items() if name not in HEEDLESS}


def apply(text, node, value_of):
    """What the node becomes: a Value, or a list of them."""
    name = name_of(node.target)
    found = RULES.get(name)
    if found is None:
        raise Refused("there is no such op in Ebb's table")
    if wraps(node):
        raise Refused(f"{str(node.meta['val'].dtype).removeprefix('torch.')} wraps around, and Ebb's integers have 32 bits: make it int32 first")
    code = found.__code__
    heeded = code.co_varnames[:code.co_argcount]
    call = {}
    for argument, (value, default) in arguments(node, value_of).items():
        if argument in heeded:
            call[argument] = value
        elif not default:
            raise Refused(f"{argument}={value if not isinstance(value, Value) else 'a tensor'}")
    if "node" in heeded:
        call["node"] = node
    return found(text, **call)
