"""python write.py FORM [PROGRAM.npz PLACE]...: writes programs down in a framework's own format, inside its stack.

A program that the framework cannot express has a file PLACE.not with the reason.
"""

import os
import sys
from importlib import import_module

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from diff_written.program import NotWritten, load

FORMS = {
    "torchscript": ("in_torch", "write_script"),
    "pt2": ("in_torch", "write_program"),
    "saved_model": ("in_tensorflow", "write_saved_model"),
    "tflite": ("in_tensorflow", "write_tflite"),
    "ncnn": ("in_ncnn", "write"),
}


def main(form, places):
    module, function = FORMS[form]
    write = getattr(import_module("diff_written." + module), function)
    for source, target in zip(places[::2], places[1::2], strict=True):
        try:
            write(load(source), target)
        except NotWritten as error:
            reason = str(error)
        except Exception as error:  # of whatever class a converter has: one network must not end all
            reason = f"{FORMS[form][0]}: {type(error).__name__}: {str(error)[:300]}"
        else:
            continue
        with open(target + ".not", "w") as file:
            file.write(reason)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
