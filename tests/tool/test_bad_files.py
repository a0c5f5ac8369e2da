#!/usr/bin/env python3
"""Files that are not there, full, or no config, device or plan: the right exit code, one line that helps, nothing left behind.

    test_bad_files.py EBB
"""
import sys

from bad_input import BAD_INPUT, IO, OUT, USAGE, main
from harness import Case
from models import SMALL, chain, text


def io_rows():
    small = {"m.ebb": SMALL}
    yield Case("a model that is not there", ["plan", "nowhere.ebb", "-o", OUT], IO, r"nowhere\.ebb: No such file")
    yield Case("a folder as a model", ["plan", ".", "-o", OUT], IO, r"directory")
    for command in (["verify"], ["report"], ["diff", "m.ebb"]):
        yield Case(f"a model in place of a plan, {command[0]}", [*command, "m.ebb"], BAD_INPUT,
                   rf"m\.ebb is a model: `ebb plan m\.ebb -o plan\.json` makes what {command[0]} takes", files={"m.ebb": "ebb 1"})
    for command in (["run"], ["plan"], ["tune", "--budget", "1GB"], ["inspect"]):
        yield Case(f"a plan in place of a model, {command[0]}", [*command, "p.json"], BAD_INPUT, rf"p\.json is a plan, which .* read: give {command[0]} the model",
                   files={"p.json": '{"schema": "ebb.plan/1"}'})
    for what, document in (("names a plan", '{"schema": "ebb.graph/1", "name": "ebb.plan/1"}'), ("is of another schema", '{"schema": "ebb.plans/1"}')):
        yield Case(f"a document that {what} and is none", ["plan", "p.json"], BAD_INPUT, r"^ebb: p\.json(?!.* is a plan)", files={"p.json": document})
    yield Case("an ONNX file without its name", ["plan", "m"], BAD_INPUT, r"m:1:1: a control byte: .*FILE\.onnx", files={"m": b"\x08\x08"})
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


if __name__ == "__main__":
    sys.exit(main(io_rows, config_rows, device_rows, plan_rows))
