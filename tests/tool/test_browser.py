#!/usr/bin/env python3
"""The pages of ebb report and ebb diff in a browser: no requests, painted soon, smooth, by keyboard, without scripts, and
names that do nothing. Without Chromium (scripts/install-deps --browser) these tests are skipped, visibly.

    test_browser.py EBB SOURCE-ROOT
"""
import json
import pathlib
import sys
import time

import browser
from models import chain
from report_page import HOSTILE, hostile_plan, plan_file, shown, tight_plan
from report_sources import FIT
from tester import Skip, equal, holds, main

RESNET50 = pathlib.Path(sys.argv[2]) / "examples/models/resnet50.ebb"
PAINTED = """new Promise(done => new PerformanceObserver((list, o) => { for (const e of list.getEntries())
  if (e.name === "first-contentful-paint") { o.disconnect(); done(e.startTime); } }).observe({type: "paint", buffered: true}))"""
FRAMES = """window.frames_ = []; (function frame(now) { if (window.last_ !== undefined) frames_.push(now - last_);
  last_ = now; requestAnimationFrame(frame); })(performance.now()); 0"""


def with_browser(test):
    def run(t):
        if not browser.find():
            raise Skip("no Chromium here: scripts/install-deps --browser")
        with browser.Browser() as b:
            test(t, b)
    run.__name__ = test.__name__
    return run


def write(t, name, *args):
    t.ebb_run("report", "plan.json", "-o", name, *args)
    return t.folder / name


def resnet50_page(t):
    """With all that a report can hold."""
    t.ebb_run("plan", str(RESNET50), "--dim", "N=32", "--budget", "2GiB", "--effort", "4000", "-o", "plan.json", "--log", "search.json",
              timeout=240)
    (t.folder / "fit.json").write_text(json.dumps(FIT))
    plan = json.loads((t.folder / "plan.json").read_text())
    run = {"schema": "ebb.run/1", "steps": [{"ns": 1}], "graph": plan["graph"]["name"], "backend": plan["backend"], "n_threads": plan["n_threads"],
           "planned_bytes": plan["arena_bytes"] + plan["persistent_bytes"], "allocated_bytes": 1, "process_peak_bytes": 1, "mean_step_ns": 1,
           "best_step_ns": 1, "profile": [{"op": step["op"], "bytes": 1 << 24, "median_ns": 10**6 + i} for i, step in enumerate(plan["steps"])]}
    (t.folder / "run.json").write_text(json.dumps(run))
    return write(t, "resnet50.html", "--search", "search.json", "--fit", "fit.json", "--measured", "run.json")


def asks_for_nothing(page, what):
    """Beside its own file; and nobody complains of what the policy forbade."""
    equal([request["request"]["url"] for request in page.told("Network.requestWillBeSent")], [page.url], f"{what}: requests")
    equal([entry["entry"]["text"] for entry in page.told("Log.entryAdded")], [], f"{what}: complaints")
    equal(page.told("Page.javascriptDialogOpening"), [], f"{what}: dialogs")
    equal(page.told("Runtime.exceptionThrown"), [], f"{what}: exceptions")


@with_browser
def resnet50s_page_asks_for_nothing_and_is_painted_within_a_second(t, b):
    path = resnet50_page(t)
    holds(path.stat().st_size <= 1 << 20, f"{path.stat().st_size} bytes")
    paints = []
    for _ in range(3):  # others use this machine, too: the best of three
        page = b.page()
        page.load(path)
        paints.append(page.evaluate(PAINTED))
        asks_for_nothing(page, "resnet50")
    holds(min(paints) <= 1000, f"first paints after {paints} ms")
    print(f"resnet50: {path.stat().st_size} bytes, first paint after {min(paints):.0f} ms")


def frames_while(page, moves):
    """Median and 95th percentile of frames, and the processor time of all the browser for each move, in ms. Others use this
    machine, too: the best of three."""
    found = []
    for _ in range(3):
        page.evaluate("frames_.length = 0; 0")
        before = page.browser.processor_s()
        for move in moves:
            move()
        busy = (page.browser.processor_s() - before) * 1000 / len(moves)
        frames = sorted(page.evaluate("frames_"))
        found.append((round(frames[len(frames) // 2], 1), round(frames[len(frames) * 95 // 100], 1), round(busy, 1)))
    return min(found)


@with_browser
def a_page_of_ten_thousand_ops_stays_small_and_smooth(t, b):
    plan = plan_file(t, chain(n=5000, unit=1 << 16))
    holds(len(plan["graph"]["ops"]) >= 10000, "ops")
    path = write(t, "large.html")
    holds(path.stat().st_size <= 8 << 20, f"{path.stat().st_size} bytes")
    page = b.page(1400, 900)
    page.load(path)
    page.evaluate(PAINTED)
    page.evaluate(FRAMES)
    told = []
    for drawing in ("#curve figure svg", "#map figure svg"):
        x, y = page.place(drawing)
        width, height = page.evaluate(f"(() => {{ const r = document.querySelector({drawing!r}).getBoundingClientRect(); return [r.width, r.height]; }})()")
        time.sleep(0.3)
        told.append(frames_while(page, [lambda i=i: page.move(x + width * (i / 50 - 0.49), y + height * (i * 7 % 50 / 50 - 0.49)) for i in range(50)]))
    wheel = {"type": "mouseWheel", "x": 700, "y": 450, "deltaX": 0, "deltaY": 120}
    page.evaluate("scrollTo(0, 0)")
    told.append(frames_while(page, [lambda: page.send("Input.dispatchMouseEvent", wheel)] * 40))
    print(f"10,001 ops: {path.stat().st_size} bytes; median and 95th percentile of frames, processor time of a move, ms: {told}")
    for name, (median, _, busy) in zip(("over the curve", "over the map", "scrolling"), told):
        holds(median <= 50, f"{name}: a frame takes {median} ms")
        holds(busy <= 50, f"{name}: a move takes {busy} ms of processor time")  # however busy the machine is
    asks_for_nothing(page, "large")


# What no name may have brought into the page, nor a script beside ours.
FOREIGN = """[...document.querySelectorAll("*")].filter(e => ["IMG", "IFRAME", "OBJECT", "EMBED", "LINK", "BASE", "FORM", "B"].includes(e.tagName)
  || [...e.attributes].some(a => a.name.startsWith("on") || /^\\s*javascript:/i.test(a.value)) || (e.tagName === "A" && !e.getAttribute("href").startsWith("#")))
  .map(e => e.outerHTML.slice(0, 80)).concat(document.scripts.length === 1 ? [] : ["scripts: " + document.scripts.length])"""


def is_inert(page, what):
    equal(page.evaluate(FOREIGN), [], f"{what}: foreign elements")
    asks_for_nothing(page, what)
    equal(page.evaluate("location.href"), page.url, f"{what}: place")


@with_browser
def hostile_names_are_inert_in_the_browser(t, b):
    plan = hostile_plan(t)
    log = {"schema": "ebb.search/1", "graph": plan["graph"]["name"], "mode": HOSTILE[1], "seed": 1,
           "dims": [{"name": HOSTILE[0], "size": 3}],
           "config": {"thresh_nr_try": 1, "genetic_nr_iter": 0, "genetic_pool_size": 2, "lb_memory_bytes": 0},
           "plan": {"n_steps": len(plan["steps"]), **{key: plan[key] for key in ("arena_bytes", "total_bytes", "time_ns")}}, "searches": []}
    (t.folder / "search.json").write_text(json.dumps(log))
    page = b.page()
    page.load(write(t, "report.html", "--search", "search.json"))
    is_inert(page, "report")
    equal(page.evaluate("document.title"), "Memory of " + shown(HOSTILE[0]))
    names = set(page.evaluate("[...document.querySelectorAll('#alive td.name')].map(e => e.textContent)"))
    holds(names and names <= {shown(name) for name in HOSTILE} | {f"a{i}" for i in range(99)} | {"x"} | names, "names")
    heard = set()
    page.evaluate("document.querySelector('#map figure svg').focus()")
    for _ in range(page.evaluate("document.querySelectorAll('#map rect.t').length")):
        page.press("ArrowRight")
        heard.add(page.evaluate("document.getElementById('map-panel').textContent").split("\n")[0])
    for name in HOSTILE:
        holds(shown(name) in heard | names, f"{shown(name)!r} is shown as it is")
    for i in range(3):
        page.evaluate(f"document.querySelectorAll('#alive th button')[{i}].click()")
    is_inert(page, "after use")
    t.ebb_run("plan", "graph.json", "-o", "other.json")
    t.ebb_run("diff", "other.json", "plan.json", "-o", "diff.html")
    page = b.page()
    page.load(t.folder / "diff.html")
    is_inert(page, "diff")


@with_browser
def the_page_is_readable_without_scripts(t, b):
    tight_plan(t)
    report = t.json("report", "plan.json")
    page = b.page(script=False)
    page.load(write(t, "report.html"))
    words = page.evaluate("document.body.innerText")
    holds("below its budget" in words, "the verdict")
    for row in report["alive_at_peak"] + report["run_again"]:
        name = row.get("name") or report["tensors"][row["tensor"]]["name"]
        holds(name in words, f"{name} is in no table")
    equal(page.evaluate("[...document.querySelectorAll('.panel')].filter(e => e.offsetHeight > 0).length"), 0, "panels, which have nothing to tell")
    equal(page.evaluate("document.querySelectorAll('button').length"), 0, "buttons that would do nothing")
    holds(page.evaluate("document.querySelectorAll('#map rect.t title').length") > 10, "titles for hovering")
    page.evaluate("document.querySelector('#verdict summary').click()")
    holds(str(report["verdict"]["total_bytes"]) in page.evaluate("document.body.innerText"), "exact figures")
    asks_for_nothing(page, "without scripts")


@with_browser
def all_of_it_is_reached_by_the_keyboard(t, b):
    tight_plan(t)
    report = t.json("report", "plan.json")
    page = b.page()
    page.load(write(t, "report.html"))
    active = "(() => { const e = document.activeElement; return [e.tagName, e.closest('section') ? e.closest('section').id : '', e.textContent.slice(0, 40)]; })()"
    seen = []
    for _ in range(200):
        page.press("Tab")
        seen.append(page.evaluate(active)[:2])
        if seen[-1] == ["BODY", ""]:
            break
    for place in (["A", ""], ["SUMMARY", "verdict"], ["svg", "curve"], ["svg", "map"], ["BUTTON", "alive"], ["BUTTON", "again"]):
        holds(place in seen, f"{place} is not reached")
    told = "document.getElementById('%s-panel').textContent"
    for drawing in ("curve", "map"):
        page.evaluate(f"document.querySelector('#{drawing} figure svg').focus()")
        texts = []
        for key in ("Home", "ArrowRight", "ArrowRight", "ArrowLeft", "End"):
            page.press(key)
            texts.append(page.evaluate(told % drawing))
        equal(texts[3], texts[1], f"{drawing}: there and back")
        equal(len(set(texts)), 4, f"{drawing}: each key moves")
    box = "[...document.querySelector('#map .chosen').attributes].filter(a => 'xy'.includes(a.name)).map(a => Number(a.value))"
    page.press("Home")
    for _ in range(3):
        page.press("ArrowDown")
    low = page.evaluate(box)[1]
    page.press("ArrowUp")
    holds(page.evaluate(box)[1] < low, "up is up")
    page.load(resnet50_page(t))
    for section in ("search", "batches"):
        for k in range(page.evaluate(f"document.querySelectorAll('#{section} figure svg').length")):
            page.evaluate(f"document.querySelectorAll('#{section} figure svg')[{k}].focus()")
            texts = []
            for key in ("Home", "ArrowRight", "End"):
                page.press(key)
                texts.append(page.evaluate(told % section))
            equal(len(set(texts)), 3, f"{section} {k}: each key moves: {texts}")
    page.load(t.folder / "report.html")
    names = "[...document.querySelectorAll('#alive tbody tr')].map(r => Number(r.cells[1].dataset.n))"
    page.evaluate("document.querySelectorAll('#alive th button')[1].focus()")
    page.press("Enter")
    sizes = page.evaluate(names)
    page.press("Enter")
    equal(page.evaluate(names), sorted(sizes), "sorted by bytes, smallest first")
    equal(sizes, sorted(sizes, reverse=True), "sorted by bytes, largest first")
    equal(page.evaluate("document.querySelectorAll('#alive th')[1].getAttribute('aria-sort')"), "ascending")
    row = page.evaluate("(() => { const r = document.querySelector('#alive tbody tr'); r.cells[0].querySelector('button').focus(); return r.dataset.tensor; })()")
    page.press("Enter")
    tensor = report["tensors"][int(row)]
    holds(page.evaluate(told % "map").startswith(f"{tensor['name']}\n{tensor['category']}, "), "a tensor's row leads to its box")
    equal(page.evaluate("document.activeElement.closest('section').id"), "map", "and the drawing has the focus")


@with_browser
def hovering_tells_of_what_is_under_the_pointer(t, b):
    tight_plan(t)
    page = b.page(1400, 1000)
    page.load(write(t, "report.html"))
    for drawing, selector in (("curve", "rect.column"), ("map", "rect.t")):
        for i in (0, 3, 7):
            place = f"#{drawing} {selector}:nth-of-type({i + 1})" if drawing == "map" else f"#{drawing} {selector}"
            x, y = page.place(place)
            page.move(x, y)
            under = page.evaluate(f"document.elementFromPoint({x}, {y}).closest({selector!r}).querySelector('title').textContent")
            equal(page.evaluate(f"document.getElementById('{drawing}-panel').textContent"), under, f"{drawing} {i}")


@with_browser
def nothing_hangs_over_at_any_width(t, b):
    tight_plan(t)
    (t.folder / "fit.json").write_text(json.dumps(FIT))
    path = write(t, "report.html", "--fit", "fit.json")
    for width in (360, 800, 1400, 2200):
        page = b.page(width, 900)
        page.load(path)
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        holds(over <= 0, f"{width} pixels: {over} too wide")


TESTS = [
    resnet50s_page_asks_for_nothing_and_is_painted_within_a_second,
    a_page_of_ten_thousand_ops_stays_small_and_smooth,
    hostile_names_are_inert_in_the_browser,
    the_page_is_readable_without_scripts,
    all_of_it_is_reached_by_the_keyboard,
    hovering_tells_of_what_is_under_the_pointer,
    nothing_hangs_over_at_any_width,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
