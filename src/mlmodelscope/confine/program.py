"""Runs inside of the sandbox, given to Python as text: one program, and whether it came to its end.

It knows nothing of this package. The first line of its input is a word that nobody can guess; only a program that
came to its end has it written, so leaving early does not pass. One that sets out to cheat can: it runs beside its
own tests, as it does everywhere else, and may look for the word or change what the tests compare.
"""

import os
import resource
import sys


def main() -> None:
    word, _, program = sys.stdin.buffer.read().partition(b"\n")
    memory, seconds = (int(each) for each in sys.argv[1:3])
    verdict = os.dup(1)
    os.dup2(2, 1)  # what it prints goes nowhere
    os.dup2(2, 0)
    limits = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: 1 << 22,
        resource.RLIMIT_NOFILE: 64,
        resource.RLIMIT_CORE: 0,
    }
    for which, most in limits.items():
        resource.setrlimit(which, (most, most))
    try:
        exec(compile(program, "<answer>", "exec"), {"__name__": "answer"})  # nosec B102 # that is what walls are for
    except BaseException as error:
        os.write(verdict, b"failed " + type(error).__name__[:100].encode("utf-8", "replace"))
        os._exit(1)
    os.write(verdict, b"passed " + word)
    os._exit(0)


if __name__ == "__main__":
    main()
