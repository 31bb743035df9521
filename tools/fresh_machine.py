"""Runs `make demo` and `make test` in a Debian that has only Python, pip, make and git, and keeps the last lines.

    sudo python3 tools/fresh_machine.py --suite stable --user somebody --locale C

The commit that is checked out is cloned into a new root file system; what was not committed is not tried. Needs root,
mmdebstrap and the network. Certificates of a proxy, folders of wheels and the variables that name them: --bind, --env.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
PACKAGES = "python3,python3-venv,python3-pip,make,git,ca-certificates"
MINUTES = 120
# Mounts belong to this process and go away with it, whatever becomes of it.
INSIDE = """
set -e
root=$1; shift
mount --rbind /dev "$root/dev"
mount -t tmpfs none "$root/tmp"; chmod 1777 "$root/tmp"
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir -p "$root$1"; else mkdir -p "$(dirname "$root$1")"; touch "$root$1"; fi
  mount --rbind "$1" "$root$1"; shift
done
shift
exec chroot "$@"
"""


def main() -> int:
    asked = read_arguments()
    root = Path(tempfile.mkdtemp(prefix="fresh-", dir=asked.folder))
    try:
        root.chmod(0o755)
        subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", asked.suite, root], check=True
        )
        home = prepare(root, asked.user)
        codes = [run(root, home, target, asked) for target in asked.targets]
    finally:
        if not asked.keep:
            shutil.rmtree(root, ignore_errors=True)
    return max(codes)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=["demo", "test"], help="of make (demo and test)")
    parser.add_argument("--suite", default="stable", help="the release of Debian")
    parser.add_argument("--user", default="root", help="who runs it; any other name is made, without rights")
    parser.add_argument("--locale", default="C", help="LANG there")
    parser.add_argument("--timezone", default="Asia/Kathmandu", help="TZ there")
    parser.add_argument("--folder", default="/var/tmp", help="where the root file system is made; some 10 GB")
    parser.add_argument("--logs", type=Path, default=HERE / "reports" / "fresh", help="where whole logs are kept")
    parser.add_argument("--bind", action="append", default=["/etc/resolv.conf"], help="a path that is the same there")
    parser.add_argument("--env", action="append", default=[], help="a variable that is the same there")
    parser.add_argument("--keep", action="store_true", help="leave the root file system, to look into it")
    return parser.parse_args()


def prepare(root: Path, user: str) -> Path:
    """The home folder of the user, with a clone of what is committed."""
    home = Path("/root") if user == "root" else Path("/home") / user
    if user != "root":
        subprocess.run(["chroot", root, "useradd", "--create-home", user], check=True)
    there = root / home.relative_to("/")
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", HERE, there / "project"], check=True)
    subprocess.run(["chroot", root, "chown", "-R", f"{user}:", home], check=True)
    return home


def run(root: Path, home: Path, target: str, asked: argparse.Namespace) -> int:
    asked.logs.mkdir(parents=True, exist_ok=True)
    log = asked.logs / f"{asked.suite}-{asked.user}-{target}.log"
    there = {name: os.environ[name] for name in asked.env if name in os.environ}
    there |= {"HOME": str(home), "USER": asked.user, "LANG": asked.locale, "TZ": asked.timezone}
    there |= {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    variables = [f"{name}={value}" for name, value in there.items()]
    command = ["env", "-i", *variables, "make", "-C", str(home / "project"), target]
    who = ["--userspec", asked.user, str(root)]
    outside = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={root}/proc"]
    began = time.monotonic()
    with log.open("wb") as out:
        whole = [*outside, "sh", "-c", INSIDE, "sh", str(root), *asked.bind, "--", *who, *command]
        try:
            code = subprocess.run(whole, stdout=out, stderr=subprocess.STDOUT, timeout=MINUTES * 60).returncode
        except subprocess.TimeoutExpired:
            code = 124
    minutes = (time.monotonic() - began) / 60
    print(f"{asked.suite} {asked.user} make {target}: exit code {code} after {minutes:.1f} min ({log})")
    print("  " + "\n  ".join(log.read_text(errors="replace").splitlines()[-6:]), flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
