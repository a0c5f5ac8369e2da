"""A half as one Python function that drops each value right after its last reader."""

from torch import fx

from . import _recurrent

PLAIN = (int, bool, str, type(None))


class Writer:
    """Lines of the function, and the objects that they name."""

    def __init__(self, module):
        self.module, self.lines, self.objects, self.names = module, [], {}, {}

    def object(self, thing):
        name = self.names.setdefault(id(thing), f"c{len(self.names)}")
        self.objects[name] = thing
        return name

    def argument(self, thing):
        if isinstance(thing, fx.Node):
            return f"v{self.number[thing]}"
        if type(thing) in PLAIN:
            return repr(thing)
        if isinstance(thing, (list, tuple)):
            inside = ", ".join(self.argument(one) for one in thing)
            return f"[{inside}]" if isinstance(thing, list) or type(thing) is not tuple else f"({inside},)" if thing else "()"
        if isinstance(thing, dict):
            return "{" + ", ".join(f"{k!r}: {self.argument(v)}" for k, v in thing.items()) + "}"
        if isinstance(thing, slice):
            return f"slice({self.argument(thing.start)}, {self.argument(thing.stop)}, {self.argument(thing.step)})"
        return self.object(thing)

    def write(self):
        graph = self.module.graph
        self.number = {node: i for i, node in enumerate(graph.nodes)}
        dying = {}
        for node in graph.nodes:
            reader = max(node.users, key=self.number.get) if node.users else node
            dying.setdefault(reader, []).append(f"v{self.number[node]}")
        inputs = [node for node in graph.nodes if node.op == "placeholder"]
        if inputs:
            self.lines.append(", ".join(f"v{self.number[n]}" for n in inputs) + ", = args")
        self.lines.append("args.clear()")
        unread = [f"v{self.number[n]}" for n in inputs if not n.users]
        if unread:
            self.lines.append("del " + ", ".join(unread))
        for node in graph.nodes:
            self.node(node, dying.get(node, []))
        return self.lines, self.objects

    def node(self, node, dying):
        if node.op == "output":
            self.lines.append(f"return {self.argument(tuple(node.args[0]))}")
            return
        if node.op == "placeholder":
            return
        if node.op == "get_attr":
            thing = self.module
            for part in node.target.split("."):
                thing = getattr(thing, part)
            self.lines.append(f"v{self.number[node]} = {self.object(thing)}")
        else:
            args = [self.argument(a) for a in node.args] + [f"{k}={self.argument(v)}" for k, v in node.kwargs.items()]
            self.lines.append(f"v{self.number[node]} = {self.object(_recurrent.callable_of(node.target))}({', '.join(args)})")
        if dying:
            self.lines.append("del " + ", ".join(dying))


def make_function(module):
    """The half as a function of a list, which it empties."""
    lines, objects = Writer(module).write()
    source = "def half(args):\n" + "".join(f"    {line}\n" for line in lines)
    space = dict(objects)
    exec(compile(source, "<ebb.torch>", "exec"), space)  # noqa: S102: the text is made here, of numbered names
    half = space["half"]
    half._boxed_call = True
    return half
