#!/usr/bin/env python3
"""Bad input through the real command: the right exit code, one line that helps, nothing left behind.

    test_bad_input.py EBB
"""
import os
import sys

import harness
from harness import Case
from models import CONV, SMALL, chain, changed, text

USAGE, BAD_INPUT, DEVICE, IO = 2, 3, 5, 7
OUT = "{d}/out.json"


def usage_rows():
    plan = ["plan", "m.ebb", "-o", OUT]
    rows = [
        ("no command", [], r"no command.*ebb help"),
        ("a misspelt command names the nearest", ["pln", "m.ebb"], r"unknown command \"pln\": did you mean plan\?"),
        ("a command like no other", ["flabbergast"], r"unknown command \"flabbergast\": `ebb help`"),
        ("a command with a line break stays one line", ["a\nb"], r"unknown command \"a\?b\""),
        ("a misspelt flag names the nearest", [*plan, "--bugdet", "4"], r"--bugdet: did you mean --budget\?"),
        ("an unknown short flag", [*plan, "-q"], r"unknown flag -q"),
        ("a flag of another command", ["verify", "p.json", "--budget", "1"], r"verify takes no --budget"),
        ("a flag without its value", ["plan", "m.ebb", "--budget"], r"--budget needs a value"),
        ("a flag with an empty value", ["plan", "m.ebb", "-o", ""], r"--output needs a value"),
        ("a switch with a value", [*plan, "--json=1"], r"--json takes no value"),
        ("a way to tell of progress that is none", [*plan, "--progress=jsn"], r"\"jsn\": did you mean json\?"),
        ("a way to tell of progress that is empty", [*plan, "--progress="], r"--progress needs a value"),
        ("no model", ["plan"], r"plan needs a MODEL"),
        ("two models", ["plan", "a", "b"], r"one argument too many"),
        ("an operand where none belongs", ["doctor", "x"], r"one argument too many"),
        ("help for an unknown command", ["help", "paln"], r"did you mean plan\?"),
        ("a budget without digits", [*plan, "--budget", "lots"], r"--budget: \"lots\" is not a positive size"),
        ("a budget with an unknown unit", [*plan, "--budget", "4XB"], r"--budget: \"4XB\""),
        ("a budget of nothing", [*plan, "--budget", "0"], r"--budget: \"0\" is not a positive size"),
        ("a negative budget", [*plan, "--budget", "-5"], r"--budget: \"-5\""),
        ("a budget of half a byte", [*plan, "--budget", "0.5"], r"--budget: \"0\.5\""),
        ("a budget past the largest integer", [*plan, "--budget", "9999999999GiB"], r"--budget"),
        ("a dimension without a size", [*plan, "--dim", "N"], r"--dim: \"N\" is not NAME=SIZE"),
        ("a dimension without a name", [*plan, "--dim", "=3"], r"is not NAME=SIZE"),
        ("a dimension of zero", [*plan, "--dim", "N=0"], r"--dim N: \"0\" is not an integer in \[1, "),
        ("a negative dimension", [*plan, "--dim", "N=-3"], r"--dim N: \"-3\""),
        ("a dimension past the largest integer", [*plan, "--dim", "N=99999999999999999999"], r"is not an integer"),
        ("a dimension given twice", [*plan, "--dim", "N=1", "--dim", "N=2"], r"N is given twice: 1 and 2"),
        ("a dimension that the model lacks", [*plan, "--dim", "M=4"], r"\bM\b"),
        ("an unknown method", [*plan, "--method", "megengin"], r"\"megengin\": did you mean megengine\?"),
        ("the budget method without a budget", [*plan, "--method", "budget"], r"needs --budget"),
        ("MegEngine's method with a budget", [*plan, "--method", "megengine", "--budget", "1GB"], r"takes no --budget"),
        ("no reuse within a budget", [*plan, "--no-reuse", "--budget", "1GB"], r"--no-reuse excludes --budget"),
        ("both lower bounds", [*plan, "--lb-memory", "1", "--lb-memory-mb", "1"], r"--lb-memory and --lb-memory-mb"),
        ("a pool of nobody", [*plan, "--genetic-pool-size", "0"], r"genetic_pool_size is 0.*\[1, "),
        ("no workers", [*plan, "--num-worker", "0"], r"num_worker is 0.*\[1, "),
        ("a negative number of tries", [*plan, "--thresh-nr-try=-1"], r"--thresh-nr-try: \"-1\""),
        ("a fraction of a generation", [*plan, "--genetic-nr-iter", "1.5"], r"--genetic-nr-iter: \"1\.5\""),
        ("a time limit that is no number", [*plan, "--time-limit", "nan"], r"--time-limit: \"nan\""),
        ("a time limit of nothing", [*plan, "--time-limit", "0"], r"--time-limit: \"0\" is not a number above 0"),
        ("a time limit of nothing for a packing", ["pack", "r.csv", "--time-limit", "0.0"], r"is not a number above 0"),
        ("progress of another kind", [*plan, "--progress=line"], r"--progress: unknown value \"line\": did you mean lines\?"),
        ("an unknown pass", [*plan, "--dump=schedul"], r"did you mean schedule\?"),
        ("fit without a budget", ["fit", "m.ebb"], r"fit needs --budget"),
        ("fit with a share that is none", ["fit", "m.ebb", "--budget", "1GB", "--max-added", "x%"], r"--max-added"),
        ("a batch of nobody", ["fit", "m.ebb", "--budget", "1GB", "--batch", "0"], r"--batch: \"0\" is not an integer in \[1, "),
        ("a reserve that leaves nothing", ["fit", "m.ebb", "--budget", "1MB", "--reserve", "1MB"], r"leaves nothing of 1000000"),
        ("one batch of a dimension that the model lacks", ["fit", "m.ebb", "--budget", "1MB", "--batch", "2", "--over", "M"],
         r"\bM\b"),
        ("tune without a budget", ["tune", "m.ebb"], r"tune needs --budget"),
        ("tune has no method of its own", ["tune", "m.ebb", "--budget", "1GB", "--method", "budget"], r"tune takes no --method"),
        ("tune takes no cache", ["tune", "m.ebb", "--budget", "1GB", "--cache", "c"], r"tune takes no --cache"),
        ("a curve of one point", ["frontier", "m.ebb", "--points", "1"], r"--points: \"1\" is not an integer in \[2, 64\]"),
        ("points and budgets", ["frontier", "m.ebb", "--points", "3", "--budgets", "1GB"], r"--points and --budgets"),
        ("a list with an empty budget", ["frontier", "m.ebb", "--budgets", "1GB,,2GB"], r"--budgets: \"\" is not a size"),
        ("a list with a share of nothing", ["frontier", "m.ebb", "--budgets", "1GB,0%"], r"--budgets: \"0%\" is not"),
        ("a list with a share that is none", ["frontier", "m.ebb", "--budgets", "x%"], r"--budgets: \"x%\" is not"),
        ("a list that is too long", ["frontier", "m.ebb", "--budgets", ",".join(["1GB"] * 65)], r"more than 64 sizes"),
        ("a curve within one budget", ["frontier", "m.ebb", "--budget", "1GB"], r"frontier takes no --budget"),
        ("fit takes no cache", ["fit", "m.ebb", "--budget", "1GB", "--cache", "c"], r"fit takes no --cache"),
        ("keep without a budget", [*plan, "--keep", "h1"], r"keep or drop \(h1\) are chosen within a budget"),
        ("drop without a budget (run)", ["run", "m.ebb", "--device", "ref", "--drop", "h*"], r"\(h\*\) are chosen within"),
        ("drop with MegEngine's method", [*plan, "--method", "megengine", "--drop", "h1"], r"\(h1\) are chosen within"),
        ("a value to keep that is not there", [*plan, "--budget", "1GB", "--keep", "h9"], r"has no value %h9"),
        ("a glob that fits nothing", [*plan, "--budget", "1GB", "--drop", "z*"], r"has no value like z\*"),
        ("a glob that fits nothing (frontier)", ["frontier", "m.ebb", "--keep", "z*"], r"has no value like z\*"),
        ("a glob that fits nothing (fit)", ["fit", "m.ebb", "--budget", "1GB", "--keep", "z*"], r"has no value like z\*"),
        ("a glob that fits nothing (run)", ["run", "m.ebb", "--budget", "1GB", "--keep", "z*"], r"has no value like z\*"),
        ("a value both kept and dropped", [*plan, "--budget", "1GB", "--keep", "h3", "--drop", "h*"],
         r"%h3 is both kept and dropped"),
        ("an input to drop", [*plan, "--budget", "1GB", "--drop", "x"], r"%x cannot be dropped: it is given"),
        ("a parameter to drop", [*plan, "--budget", "1GB", "--drop", "%w1"], r"%w1 cannot be dropped"),
        ("too many values to keep", [*plan, *["--keep", "h1"] * 65], r"--keep is given more than 64 times"),
        ("an unknown optimizer", [*plan, "--optimizer", "adam"], r"did you mean adamw\?"),
        ("nesterov with adamw", [*plan, "--nesterov", "--optimizer", "adamw"], r"Nesterov"),
        ("a beta of one", [*plan, "--optimizer", "adamw", "--beta2", "1"], r"beta1 and beta2 are 0\.9 and 1;"),
        ("nesterov without momentum", [*plan, "--nesterov", "--momentum", "0"], r"momentum"),
    ]
    for name, args, stderr in rows:
        yield Case(name, args, USAGE, stderr, files={"m.ebb": SMALL})
    yield Case("a device that is not here lists those that are", [*plan, "--device", "gpx"], DEVICE, r"\"gpx\".*ref",
               files={"m.ebb": SMALL})
    variables = {"THRESH_NR_TRY": "x", "GENETIC_NR_ITER": "-1", "GENETIC_POOL_SIZE": "0", "LOWER_BOUND_MB": "1.5",
                 "WORKERS": "0"}
    for name, value in variables.items():
        variable = f"MGB_SUBLINEAR_MEMORY_{name}"
        yield Case(f"environment variable {name} is nonsense", plan, USAGE, f"{variable}.*{value}",
                   files={"m.ebb": SMALL}, env={variable: value})


def text_rows():
    """(name, old text, new text, stderr)"""
    rows = [
        ("an op that does not exist, with its place", "= relu %h2", "= rleu %h2", r"m\.ebb:11:\d+: .*rleu"),
        ("a value that nothing makes", "= relu %h2", "= relu %nope", r"m\.ebb:11:\d+: .*nope"),
        ("an op that reads itself", "%h3 = relu %h2", "%h3 = relu %h3", r"m\.ebb:11:\d+: .*h3"),
        ("an op that reads what comes later", "%h3 = relu %h2", "%h3 = relu %logits", r"m\.ebb:11:\d+: .*logits"),
        ("a value made twice", "%h3 = relu %h2", "%h2 = relu %h2", r"m\.ebb:11:\d+: .*h2"),
        ("shapes that do not agree: the op and both", "f32[5,33]", "f32[5,32]",
         r"m\.ebb:12:.*linear.*7,33\].*5,32\]"),
        ("a bias of another size", "f32[33] init", "f32[34] init", r"m\.ebb:10:.*bias.*7,33\].*34\]"),
        ("an operand too few", "linear %x, %w1", "linear %x", r"m\.ebb:9:\d+: .*linear"),
        ("an operand too many", "= relu %h2", "= relu %h2, %h1", r"m\.ebb:11:\d+: .*relu"),
        ("an unknown attribute", "= relu %h2", "= relu %h2 size=3", r"m\.ebb:11:\d+: .*size"),
        ("an unknown dtype", "input f32[N,3]", "input f33[N,3]", r"m\.ebb:4:\d+: .*f33"),
        ("an unknown dimension", "input f32[N,3]", "input f32[M,3]", r"m\.ebb:4:\d+: .*M"),
        ("a default of zero", "dim N = 7", "dim N = 0", r"m\.ebb:3:\d+"),
        ("a shape of zero", "f32[33,3]", "f32[0,3]", r"m\.ebb:6:\d+"),
        ("a negative shape", "f32[33,3]", "f32[-33,3]", r"m\.ebb:6:\d+"),
        ("a shape whose bytes overflow", "f32[33,3]", "f32[4611686018427387904,3]", r"m\.ebb:6:\d+"),
        ("a number past the largest integer", "dim N = 7", "dim N = 99999999999999999999", r"m\.ebb:3:\d+"),
        ("another version", "ebb 1\n", "ebb 2\n", r"m\.ebb:1:\d+.*2"),
        ("no header", "ebb 1\ngraph small\n", "", r"m\.ebb:1:\d+"),
        ("a loss that is no value", "loss %loss\n", "loss %lost\n", r"m\.ebb:14:\d+: .*lost"),
        ("a loss that is no scalar", "loss %loss\n", "loss %h3\n", r"m\.ebb(:\d+:\d+)?: .*h3"),
        ("a line that is cut off", "%h3 = relu %h2", "%h3 =", r"m\.ebb:11:\d+"),
        ("bytes that are no text", "%h3 = relu %h2", "%h3 = \x01\x7f", r"m\.ebb:11:\d+"),
        ("labels that are floats", "i32[N]", "f32[N]", r"m\.ebb:13:.*softmax_xent"),
        ("an unknown way to start", "init=zero", "init=one-ish", r"m\.ebb:7:\d+"),
    ]
    for name, old, new, stderr in rows:
        assert SMALL.count(old) >= 1, name
        yield Case(name, ["plan", "m.ebb", "-o", OUT], BAD_INPUT, stderr, files={"m.ebb": SMALL.replace(old, new)})
    for name, content, stderr in [
        ("an empty file", "", r"m\.ebb"),
        ("a file of zeros", b"\0" * 4096, r"m\.ebb"),
        ("random bytes", bytes(range(256)) * 16, r"m\.ebb"),
        ("a line of a megabyte", "ebb 1\ngraph m\n%" + "x" * (1 << 20) + " = y\n", r"m\.ebb:3:"),
        ("a kernel larger than the image", CONV.replace("dim H = 7", "dim H = 1").replace(" pad=1", ""),
         r"conv2d"),
    ]:
        yield Case(name, ["plan", "m.ebb", "-o", OUT], BAD_INPUT, stderr, files={"m.ebb": content})
    yield Case("dimensions whose bytes overflow", ["plan", "m.ebb", "--dim", "N=9000000000000000000", "-o", OUT],
               BAD_INPUT, r"N|f32|bytes|large|overflow", files={"m.ebb": SMALL})
    yield Case("dimensions whose sum overflows", ["plan", "m.ebb", "--dim", "N=60000000000000000", "-o", OUT],
               BAD_INPUT, r"bytes|large|overflow|is more than", files={"m.ebb": SMALL})


def graph_rows():
    good = chain()
    ops, values = good["ops"], good["values"]
    duplicate = text(good).replace('"name": "chain"', '"name": "chain", "name": "twice"')
    rows = [
        ("another schema", changed(good, schema="ebb.graph/2"), r"schema.*ebb\.graph/2"),
        ("no schema", {k: v for k, v in good.items() if k != "schema"}, r"schema"),
        ("no ops", {k: v for k, v in good.items() if k != "ops"}, r"ops"),
        ("ops that are no list", changed(good, ops={}), r"ops"),
        ("an op that is no object", changed(good, ops__1=7), r"ops\[1\]"),
        ("a value's id that is not its index", changed(good, values__2__id=7), r"values\[2\].*id = 7"),
        ("an op's id of a thousand million", changed(good, ops__2__id=1000000000), r"ops\[2\].*1000000000"),
        ("an input of a thousand million", changed(good, ops__2__inputs=[1000000000]), r"ops\[2\].*1000000000"),
        ("a negative input", changed(good, ops__2__inputs=[-1]), r"ops\[2\].*-1"),
        ("an input that is no integer", changed(good, ops__2__inputs=[1.5]), r"ops\[2\]"),
        ("an input that nothing made", changed(good, ops__1__inputs=[9]), r"ops\[1\]"),
        ("an op that reads its own output", changed(good, ops__1__inputs=ops[1]["outputs"]), r"ops\[1\]"),
        ("a value made twice", changed(good, ops__1__outputs=ops[0]["outputs"]), r"ops\[1\]"),
        ("an activation that nothing makes", changed(good, values=[*values, {
            "id": len(values), "name": "orphan", "bytes": 1, "role": "activation"}]), r"orphan"),
        ("an input that an op makes", changed(good, values__1__role="input"), r"values\[1\]|ops\[0\]"),
        ("a role that does not exist", changed(good, values__1__role="wieght"), r"values\[1\].*wieght"),
        ("a negative size", changed(good, values__1__bytes=-1), r"values\[1\].*-1"),
        ("a size past the largest integer", text(good).replace("1048576", "99999999999999999999", 1), r"g\.json"),
        ("sizes whose sum overflows", changed(good, values__1__bytes=2**62, values__2__bytes=2**62, values__3__bytes=2**62),
         r"bytes|overflow|large"),
        ("a negative time", changed(good, ops__1__time_ns=-5), r"ops\[1\].*-5"),
        ("times whose sum overflows", changed(good, ops__1__time_ns=2**62, ops__2__time_ns=2**62, ops__3__time_ns=2**62),
         r"time"),
        ("negative scratch", changed(good, ops__1__scratch_bytes=-64), r"ops\[1\].*-64"),
        ("a phase that does not exist", changed(good, ops__1__phase="sideways"), r"ops\[1\].*sideways"),
        ("in place over no operand", changed(good, ops__1__in_place=[[ops[1]["outputs"][0], 5]]), r"ops\[1\].*in_place"),
        ("a view past its base", changed(good, ops__1__views=[[ops[1]["outputs"][0], ops[1]["inputs"][0], 2**40]]),
         r"ops\[1\].*view"),
        ("an update of an activation", changed(good, ops__1__update=[[ops[1]["outputs"][0], ops[1]["inputs"][0]]]),
         r"ops\[1\].*update"),
        ("after an op that does not exist", changed(good, ops__1__after=[10**6]), r"ops\[1\].*after"),
        ("after an op that comes later", changed(good, ops__1__after=[5]), r"ops\[1\].*after"),
        ("negative fixed bytes", changed(good, fixed_bytes=-1), r"fixed_bytes.*-1"),
        ("fixed bytes that are text", changed(good, fixed_bytes="many"), r"fixed_bytes"),
        ("a file that is cut off", text(good)[: len(text(good)) // 2], r"g\.json"),
        ("two documents", text(good) + text(good), r"g\.json"),
        ("a key given twice", duplicate, r"g\.json"),
        ("a nest of a hundred thousand brackets", '{"schema":' + "[" * 100000, r"g\.json"),
        ("a list of all", "[1, 2, 3]", r"g\.json"),
        ("broken UTF-8", text(good).encode().replace(b"chain", b"ch\xff\xfein"), r"g\.json"),
    ]
    for name, document, stderr in rows:
        content = document if isinstance(document, (str, bytes)) else text(document)
        yield Case(name + " (planning graph)", ["plan", "g.json", "-o", OUT], BAD_INPUT, stderr, files={"g.json": content})
    yield Case("a planning graph takes no dimensions", ["plan", "g.json", "--dim", "N=3", "-o", OUT], USAGE, r"\bN\b|dim",
               files={"g.json": text(good)})
    yield Case("a planning graph has no kernels to run", ["run", "g.json"], USAGE, r"planning graph",
               files={"g.json": text(good)})


def io_rows():
    small = {"m.ebb": SMALL}
    yield Case("a model that is not there", ["plan", "nowhere.ebb", "-o", OUT], IO, r"nowhere\.ebb: No such file")
    yield Case("a folder as a model", ["plan", ".", "-o", OUT], IO, r"directory")
    yield Case("a plan that is not there", ["verify", "nowhere.json"], IO, r"nowhere\.json: No such file")
    yield Case("an output folder that is not there", ["plan", "m.ebb", "-o", "{d}/no/out.json"], IO, r"No such file",
               files=small)
    yield Case("a folder as output", ["plan", "m.ebb", "-o", "{d}"], IO, r"directory|Is a", files=small)
    yield Case("a full disk (plan)", ["plan", "m.ebb", "-o", "/dev/full"], IO, r"/dev/full.*No space", files=small)
    yield Case("a full standard output (plan as JSON)", ["plan", "m.ebb", "--json"], IO, r"standard output.*No space",
               files=small, stdout="/dev/full")
    for command in (["plan", "m.ebb"], ["inspect", "m.ebb"], ["doctor"], ["help"], ["--version"], ["doctor", "--json"]):
        yield Case(f"a full standard output ({' '.join(command)})", command, IO, r"standard output.*No space", files=small,
                   stdout="/dev/full")
    yield Case("a full disk (tune)", ["tune", "m.ebb", "--budget", "1MB", "-o", "/dev/full"], IO, r"/dev/full.*No space",
               files=small)
    yield Case("a full disk (doctor)", ["doctor", "--json", "-o", "/dev/full"], IO, r"/dev/full.*No space")
    yield Case("a folder for plans that cannot be made", ["fit", "m.ebb", "--budget", "1MB", "--plans", "{d}/no/where"], IO,
               r"no/where", files=small)

    yield Case("a folder for a curve's plans that cannot be made", ["frontier", "m.ebb", "--effort", "500", "--plans",
                                                                    "{d}/no/where"], IO, r"no/where", files=small)

    for command in (["plan"], ["frontier", "--effort", "500"], ["run", "--device", "ref"]):
        yield Case(f"a cache that cannot be made ({command[0]})", [command[0], "m.ebb", *command[1:], "--cache",
                                                                   "{d}/no/where"], IO, r"no/where: No such file",
                   files=small)
        yield Case(f"a cache in a file ({command[0]})", [command[0], "m.ebb", *command[1:]], IO, r"m\.ebb: Not a directory",
                   files=small, env={"EBB_CACHE": "m.ebb"})

    def old_output(folder):
        (folder / "out.json").write_text("old")

    yield Case("a model that is wrong leaves an old output alone", ["plan", "m.ebb", "-o", OUT], BAD_INPUT, r"m\.ebb:1",
               files={"m.ebb": "rubbish"}, prepare=old_output)
    yield Case("a standard input that is wrong", ["plan", "-"], BAD_INPUT, r"", stdin=b"ebb 1\nrubbish\n")


def config_rows():
    """(name, content of c.json, stderr)"""
    for name, content, stderr in [
        ("an empty config", "", r"c\.json"),
        ("a config that is cut off", '{"schema": "ebb.config/1", "effort"', r"c\.json: line 1"),
        ("a list as config", "[]", r"c\.json: an array"),
        ("a config without a schema", "{}", r"\"schema\" is missing"),
        ("a config of another version", '{"schema": "ebb.config/2"}', r"ebb\.config/2.*must be \"ebb\.config/1\""),
        ("a misspelt key", '{"schema": "ebb.config/1", "effrot": 1}', r"c\.json: unknown key \"effrot\".*\"effort\"\?"),
        ("a key like no other", '{"schema": "ebb.config/1", "zzzzzzzz": 1}', r"unknown key \"zzzzzzzz\": docs/formats"),
        ("a key that moves the cursor", '{"schema": "ebb.config/1", "\\u001b[2Jx": 1}', r"unknown key \"[^\x1b]*x\""),
        ("a key given twice", '{"schema": "ebb.config/1", "seed": 1, "seed": 2}', r"c\.json"),
        ("a text where a number must be", '{"schema": "ebb.config/1", "effort": "5"}', r"\"effort\" is a text"),
        ("a fraction where an integer must be", '{"schema": "ebb.config/1", "seed": 1.5}', r"\"seed\" is a number"),
        ("a number where a text must be", '{"schema": "ebb.config/1", "method": 3}', r"\"method\" is an integer"),
        ("a negative effort", '{"schema": "ebb.config/1", "effort": -1}', r"\"effort\" is -1"),
        ("a time limit of nothing", '{"schema": "ebb.config/1", "time_limit_ms": 0}', r"\"time_limit_ms\" is 0"),
        ("an unknown method", '{"schema": "ebb.config/1", "method": "dtr"}', r"\"dtr\" and must be budget or megengine"),
        ("a pool of nobody", '{"schema": "ebb.config/1", "genetic_pool_size": 0}', r"c\.json: genetic_pool_size is 0"),
        ("both lower bounds", '{"schema": "ebb.config/1", "lb_memory": 1, "lb_memory_mb": 1}', r"leave out one of the two"),
    ]:
        for command in (["plan"], ["fit", "--budget", "1GB"], ["frontier"], ["tune", "--budget", "1GB"], ["run", "--device", "ref"]):
            yield Case(f"{name} ({command[0]})", [command[0], "m.ebb", *command[1:], "--config", "c.json"], BAD_INPUT, stderr,
                       files={"m.ebb": SMALL, "c.json": content})
    good = {"m.ebb": SMALL, "c.json": '{"schema": "ebb.config/1", "method": "budget"}',
            "d.json": '{"schema": "ebb.config/1", "method": "megengine"}'}
    yield Case("a config that is not there", ["plan", "m.ebb", "--config", "no.json"], IO, r"no\.json: No such file", files=good)
    yield Case("a config of a budget that is not given", ["plan", "m.ebb", "--config", "c.json"], USAGE, r"needs --budget",
               files=good)
    yield Case("a config of MegEngine's method with a budget", ["plan", "m.ebb", "--config", "d.json", "--budget", "1GB"],
               USAGE, r"d\.json: its method megengine takes no --budget", files=good)
    yield Case("a wrong variable beside a config", ["plan", "--print-config", "--config", "c.json"], USAGE, r"WORKERS",
               files=good, env={"MGB_SUBLINEAR_MEMORY_WORKERS": "0"})


def device_rows():
    """(name, content of gpu.json, stderr)"""
    for name, content, stderr in [
        ("an empty description", "", r"gpu\.json"),
        ("a description that is cut off", '{"totalGlobalMem": 1', r"gpu\.json: line 1"),
        ("a description without memory", '{"deviceName": "x"}', r"\"totalGlobalMem\" is missing"),
        ("a device of no memory", '{"totalGlobalMem": 0}', r"\"totalGlobalMem\" is 0"),
        ("memory that is text", '{"totalGlobalMem": "11GB"}', r"\"totalGlobalMem\" is a text"),
        ("a name that is a number", '{"totalGlobalMem": 1073741824, "deviceName": 3}', r"\"deviceName\" is an integer"),
        ("a context that is all", '{"totalGlobalMem": 1000}', r"1000 bytes leaves nothing beside a context of 536870912"),
        ("a negative context", '{"totalGlobalMem": 1000, "context_bytes": -1}', r"\"context_bytes\" is -1"),
    ]:
        yield Case(name, ["fit", "m.ebb", "--device", "gpu.json"], BAD_INPUT, stderr, files={"m.ebb": SMALL, "gpu.json": content})
    yield Case("a description that is not there", ["fit", "m.ebb", "--device", "no/gpu.json"], IO, r"no/gpu\.json: No such file",
               files={"m.ebb": SMALL})
    yield Case("a backend alone gives no budget", ["fit", "m.ebb", "--device", "cpu"], USAGE, r"--budget or a device's",
               files={"m.ebb": SMALL})


def plan_rows():
    """What verify says to files that are no plans."""
    for name, content, stderr in [
        ("an empty plan", "", r"p\.json"),
        ("a graph as a plan", text(chain()), r"schema"),
        ("a plan of nothing", '{"schema": "ebb.plan/1"}', r"p\.json"),
        ("a plan of another version", '{"schema": "ebb.plan/9"}', r"schema.*ebb\.plan/9"),
        ("a text model as a plan", SMALL, r"p\.json"),
    ]:
        yield Case(name, ["verify", "p.json"], BAD_INPUT, stderr, files={"p.json": content})


def pack_rows():
    """Row tables that are wrong: the line is named, and no file is written."""
    head = "id,lower,upper,size\n"
    pack = ["pack", "r.csv", "-o", OUT, "--svg", "{d}/out.svg"]
    for name, content, stderr in [
        ("no rows file at all", "", r"r\.csv: empty"),
        ("a missing column", "id,lower,upper\na,0,1\n", r"r\.csv: line 1: no column \"size\""),
        ("a negative interval", head + "a,-3,1,4\n", r"line 2: lower is \"-3\""),
        ("a reversed interval", head + "a,0,1,4\nb,5,2,4\n", r"line 3: lower 5 is not below upper 2"),
        ("a number past int64", head + "a,0,1,9223372036854775808\n", r"line 2: size is"),
        ("sizes whose sum is too large", head + "a,0,1,1152921504606846000\nb,0,1,9999\n", r"line 3: .*sum to more"),
        ("an id that comes twice", head + "a,0,1,4\n\na,1,2,4\n", r"line 4: id \"a\" is also that of line 2"),
        ("a cell that is no number", head + "a,0,1,four\n", r"line 2: size is \"four\""),
        ("a size above the capacity", head + "a,0,1,4\nb,0,1,101\n", r"line 3: size 101 is above the capacity of 100"),
        ("gaps outside their row", "id,lower,upper,size,gaps\na,0,5,4,3-9\n", r"line 2: gap 3-9"),
        ("bytes in a gap that the row does not have", "id,lower,upper,size,gaps\na,0,5,4,3-4@2:5\n", r"line 2: gap 3-4: byte 5"),
        ("a row to write over that is none", "id,lower,upper,size,may_overwrite\na,0,5,4,b\n", r"line 2: may_overwrite names \"b\""),
        ("a row to write over that ends elsewhere", "id,lower,upper,size,may_overwrite\na,0,5,4,\nb,5,6,4,a\n",
         r"line 3: may_overwrite names \"a\", whose last step is 4"),
        ("fixed rows on the same bytes", "id,lower,upper,size,offset\na,0,5,4,0\nb,4,9,4,2\n", r"fixed offsets"),
        ("more rows than a file may have", head + "a,0,1,1\n" * 4194305, r"line 4194306: 4194305 rows.*at most 4194304"),
    ]:
        yield Case(name, [*pack, "--capacity", "100"], BAD_INPUT, stderr, files={"r.csv": content})
    pools = {"r.csv": "id,lower,upper,size,pool\na,0,5,4,\nb,0,5,7,fast\n"}
    yield Case("a pool that is none", ["pack", "r.csv", "--pool", "slow=9", "-o", OUT], BAD_INPUT, r"line 3: pool \"fast\"",
               files=pools)
    yield Case("a row larger than its pool", ["pack", "r.csv", "--pool", "slow=9", "--pool", "fast=6", "-o", OUT], BAD_INPUT,
               r"line 3: size 7 is above the capacity of 6 bytes of pool fast", files=pools)
    yield Case("a row larger than all pools", ["pack", "r.csv", "--pool", "slow=3", "--pool", "fast=3", "-o", OUT], BAD_INPUT,
               r"line 2: size 4 is above the capacity of 3 bytes of the largest pool", files=pools)
    for word in ("=3", "fast=x", "fast="):
        yield Case(f"--pool {word}", ["pack", "r.csv", "--pool", word], USAGE, r"NAME=BYTES", files=pools)
    yield Case("a pool given twice", ["pack", "r.csv", "--pool", "a=3", "--pool", "a=4"], USAGE, r"\"a\" is given twice", files=pools)
    yield Case("a capacity beside pools", ["pack", "r.csv", "--pool", "a=3", "--capacity", "4"], USAGE, r"of one space", files=pools)
    two = {"r.csv": head + "a,0,2,60\nb,1,3,60\n"}
    yield Case("rows that cannot fit", ["pack", "r.csv", "--capacity", "100"], 1, r"impossible: no packing is below 120",
               files=two)
    yield Case("two documents on standard output", ["pack", "r.csv", "--json", "--svg", "-"], USAGE, r"--json or --svg -", files=two)


def verdict_rows():
    smallest = r"(\d{3,}|[KMG]i?B)"
    yield Case("a budget below the minimum names the smallest", ["plan", "m.ebb", "--budget", "4KiB", "--effort", "2000", "-o",
                                                                  OUT], 1, smallest, files={"m.ebb": CONV})
    yield Case("a planning graph below the minimum", ["plan", "g.json", "--budget", "1MB", "--effort", "2000", "-o", OUT], 1,
               smallest, files={"g.json": text(chain())})
    yield Case("nothing fits", ["fit", "m.ebb", "--budget", "1KiB", "--effort", "2000"], 1, r"nothing fits|N=1|smallest",
               files={"m.ebb": CONV})


def main():
    ebb = os.path.abspath(sys.argv[1])
    cases = [case for rows in (usage_rows, text_rows, graph_rows, io_rows, config_rows, device_rows, plan_rows, pack_rows, verdict_rows) for case in rows()]
    return harness.check_all(ebb, cases)


if __name__ == "__main__":
    sys.exit(main())
