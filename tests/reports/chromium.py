"""A page in headless Chromium, driven over a pair of pipes with the DevTools protocol; no other package is needed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.patience import HANGS_S

PATIENCE_S = 300.0
"""Seconds that an answer may take on a busy machine."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe"),
)


def executable() -> str | None:
    """Where Chromium is, None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name)) is not None), None)


@dataclass
class Page:
    """One tab. problems: what the browser has logged, refused or raised since it was opened."""

    send: int
    receive: int
    session: str | None = None
    problems: list[str] = field(default_factory=list)
    _number: int = 0
    _rest: bytes = b""

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Calls a method of the protocol and returns its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.send, json.dumps(message).encode() + b"\0")
        return self._answer(lambda said: said.get("id") == self._number)

    def wait_for(self, event: str) -> None:
        """Waits for an event."""
        self._answer(lambda said: said.get("method") == event)

    def _answer(self, wanted: Any) -> dict[str, Any]:
        while True:
            said = self._next()
            self._note(said)
            if wanted(said):
                assert "error" not in said, said
                result: dict[str, Any] = said.get("result", {})
                return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self.receive], [], [], PATIENCE_S)
            assert ready, f"Chromium has said nothing for {PATIENCE_S:g} s"
            read = os.read(self.receive, 1 << 20)
            assert read, "Chromium has ended"
            self._rest += read
        line, self._rest = self._rest.split(b"\0", 1)
        said: dict[str, Any] = json.loads(line)
        return said

    def _note(self, said: Mapping[str, Any]) -> None:
        match said.get("method"):
            case "Log.entryAdded":
                self.problems.append(said["params"]["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.problems.append(json.dumps(said["params"]["exceptionDetails"])[:500])
            case "Network.requestWillBeSent":
                url = said["params"]["request"]["url"]
                if not url.startswith("file:"):
                    self.problems.append(f"asks for {url[:100]}")

    def open(self, url: str) -> None:
        """Goes there and waits until all is loaded."""
        self.problems.clear()
        self.call("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript, of a promise what it comes to."""
        said = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in said, said
        return said["result"].get("value")

    def look(self, width: int = 1200, dark: bool = False) -> None:
        """Sets the width of the window in CSS pixels, and the colour scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def press(self, key: str, text: str = "") -> None:
        """Presses a key and lets it go."""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, text=text, **_CODES.get(key, {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, **_CODES.get(key, {}))

    def picture(self, path: Path, height: int | None = None) -> None:
        """A PNG of the page from its top, whole or so many pixels high."""
        width = self.evaluate("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "scale": 1}
        clip["height"] = height or self.evaluate("document.documentElement.scrollHeight")
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        path.write_bytes(base64.b64decode(data))


_CODES: dict[str, dict[str, int]] = {
    "Enter": {"windowsVirtualKeyCode": 13},
    "Tab": {"windowsVirtualKeyCode": 9},
    "Escape": {"windowsVirtualKeyCode": 27},
}


@contextmanager
def a_page(profile: Path) -> Iterator[Page]:
    """A tab of a fresh Chromium, which ends with the block. profile: an empty folder."""
    found = executable()
    assert found is not None
    to_browser, from_browser = os.pipe(), os.pipe()
    command = [found, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
    redirected = f'exec "$@" 3<&{to_browser[0]} 4>&{from_browser[1]}'
    browser = subprocess.Popen(
        ["bash", "-c", redirected, "bash", *command],
        pass_fds=(to_browser[0], from_browser[1]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser[0])
    os.close(from_browser[1])
    page = Page(to_browser[1], from_browser[0])
    try:
        targets = page.call("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        page.session = page.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.call("Emulation.setFocusEmulationEnabled", enabled=True)
        yield page
    finally:
        os.close(page.send)
        os.close(page.receive)
        browser.terminate()
        browser.wait(timeout=HANGS_S)
