"""Sees to it that there is a browser for the tests: one of the system, else Debian's, else Playwright's own.

It never fails: where no browser can be had, the tests that need one are skipped and say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from browser import NoBrowser, find_chromium, use_node_of_pip

APT = (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"])


def main() -> None:
    if starts():
        return
    print("getting a browser for the tests", flush=True)
    for get in (from_debian, from_playwright):
        if get() and starts():
            return
    try:
        find_chromium()
    except NoBrowser as error:
        print(f"tests that need a browser will be skipped: {error}", flush=True)


def starts() -> bool:
    try:
        find_chromium()
    except NoBrowser:
        return False
    return True


def from_debian() -> bool:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return all(subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL).returncode == 0 for command in APT)


def from_playwright() -> bool:
    use_node_of_pip()
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        print("\n".join((done.stdout + done.stderr).strip().splitlines()[-3:]), flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    main()
