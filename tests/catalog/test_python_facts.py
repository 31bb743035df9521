"""Tables in Python are read as data, and what is short may not stand for something without end."""

import subprocess
import sys
from pathlib import Path

import pytest

from mlmodelscope.catalog.markdown import html_tables
from mlmodelscope.catalog.python_facts import TooMuch, open_module

READ = """
import re, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
from mlmodelscope.catalog.python_facts import TooMuch, open_module
module = open_module(sys.argv[1].encode(), "table.py")
try:
    module.value(module.assigned["x"])
    print("read")
except TooMuch:
    print("too much")
print(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
"""
LARGE = {
    "a product of products": "x = [[0] * 9999] * 9999",
    "as a key": "x = {[[0] * 9999] * 9999: 1}",
    "as a key of several parts": "x = {('a', [[0] * 9999] * 9999): 1}",
    "inside a call": "x = f(a=[[[0] * 9999] * 9999] * 9999)",
    "by functions": "def f(y):\n    return [y] * 9999\ndef g(y):\n    return [f(y)] * 9999\nx = {'a': g(g)}",
    "as a key that is a call": "x = {f([[0] * 9999] * 9999): 1}",
}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="nothing here says how much memory was taken")
@pytest.mark.parametrize("name", LARGE)
def test_what_is_short_and_stands_for_much_is_refused(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", READ, LARGE[name]], capture_output=True, text=True)
    said, peak_kb = done.stdout.split("\n")[:2]
    assert said == "too much" and int(peak_kb) < 200 << 10, done.stderr


def test_tables_keep_their_values() -> None:
    module = open_module(b"a = (3, 224, 224)\nx = {'b': [a] * 2, ('c', 1): dict(d=1.50), a[0]: f(a)}", "table.py")
    found = module.value(module.assigned["x"])
    assert found["b"] == [[3, 224, 224]] * 2 and found["['c', 1]"]["d"].text == "1.50" and "a[0]" in found


def test_a_table_of_countless_values_is_refused() -> None:
    module = open_module(b"x = [[0] * 9000] * 30", "table.py")
    with pytest.raises(TooMuch):
        module.value(module.assigned["x"])


def test_comments_without_an_end_take_no_time() -> None:
    """Each beginning was followed to the end of the page: a megabyte of them took hours."""
    table = "<table>\n<tr><th>a<!-- \n --><th>b\n<tr><td>1<td>2</table>"
    (found, _) = html_tables(table + "<table><tr><td>" + "<!--" * 250_000 + "x")
    assert found.titles == ["a", "b"] and [number for number, _ in found.rows] == [4]
