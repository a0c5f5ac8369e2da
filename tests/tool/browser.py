"""Drives headless Chromium by its DevTools protocol, over a pipe: no packages beside the browser.

    with Browser() as browser:
        page = browser.page()
        page.load(path)
        page.evaluate("document.title")
"""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

WAIT_S = 60


def find():
    """The browser's path, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_child, self.to = os.pipe()
        self.come, from_child = os.pipe()

        def wire():  # the protocol's pipes are 3 and 4; both are moved away first, for they may be just these
            a, b = os.dup(to_child), os.dup(from_child)
            high = os.dup2(a, 100), os.dup2(b, 101)
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-dev-shm-usage", f"--user-data-dir={self.folder.name}", "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=wire, close_fds=False)
        os.close(to_child)
        os.close(from_child)
        self.last, self.rest, self.events = 0, b"", []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.come)
        self.folder.cleanup()

    def receive(self, until):
        """One message, or None when the time is over."""
        while b"\0" not in self.rest:
            if not select.select([self.come], [], [], max(0, until - time.monotonic()))[0]:
                return None
            data = os.read(self.come, 1 << 20)
            if not data:
                raise OSError("the browser ended")
            self.rest += data
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def send(self, method, params=None, session=None):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        until = time.monotonic() + WAIT_S
        while (answer := self.receive(until)) is not None:
            if answer.get("id") != self.last:
                self.events.append(answer)
            elif "error" in answer:
                raise ValueError(f"{method}: {answer['error']}")
            else:
                return answer["result"]
        raise TimeoutError(f"{method}: no answer in {WAIT_S} s")

    def wait(self, method, session):
        until = time.monotonic() + WAIT_S
        while True:
            for event in self.events:
                if event.get("method") == method and event.get("sessionId") == session:
                    self.events.remove(event)
                    return event["params"]
            event = self.receive(until)
            if event is None:
                raise TimeoutError(f"{method}: not within {WAIT_S} s")
            self.events.append(event)

    def processor_s(self):
        """Processor time of all of its processes so far."""
        return sum(process["cpuTime"] for process in self.send("SystemInfo.getProcessInfo")["processInfo"])

    def page(self, width=1280, height=900, script=True, dark=False):
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        return Page(self, session, width, height, script, dark)


class Page:
    def __init__(self, browser, session, width, height, script, dark):
        self.browser, self.session = browser, session
        for domain in ("Network", "Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")
        self.send("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.send("Emulation.setScriptExecutionDisabled", {"value": not script})
        self.send("Emulation.setEmulatedMedia",
                  {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def send(self, method, params=None):
        return self.browser.send(method, params, self.session)

    def load(self, path):
        self.url = pathlib.Path(path).resolve().as_uri()
        self.send("Page.navigate", {"url": self.url})
        self.browser.wait("Page.loadEventFired", self.session)

    def evaluate(self, expression):
        """The value of a script of ours, which runs even where the page's own may not."""
        answer = self.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})
        if "exceptionDetails" in answer:
            raise ValueError(f"{expression[:80]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def told(self, method):
        """What came of these events so far."""
        self.evaluate("0")
        return [e["params"] for e in self.browser.events if e.get("method") == method and e.get("sessionId") == self.session]

    def move(self, x, y):
        self.send("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})

    def press(self, key):
        codes = {"Tab": 9, "Enter": 13, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": codes[key],
                                                 **(text if kind == "keyDown" else {})})

    def place(self, selector):
        """The middle of the first element that matches, after it was scrolled into view."""
        return self.evaluate(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
                             " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")

    def picture(self, path, box):
        """A PNG of [x, y, width, height] of the whole page."""
        clip = dict(zip(("x", "y", "width", "height"), box), scale=1)
        data = self.send("Page.captureScreenshot", {"format": "png", "clip": clip, "captureBeyondViewport": True})["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
