"""Unpacks the archives of a release, checks every checksum, and starts the binary of this platform.
Usage: check_archive.py DIRECTORY SUMS"""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path


def check_binstall(archive, root):
    """Checks that `cargo binstall` looks for this archive, and finds the binary in it."""
    package = tomllib.loads(Path("Cargo.toml").read_text())["package"]
    binstall, suffix = package["metadata"]["binstall"], archive.name.removeprefix(root.name)
    target = root.name.removeprefix(f"{package['name']}-{package['version']}-")
    words = package | {"target": target, "archive-suffix": suffix, "bin": package["name"], "binary-ext": "", "repo": ""}
    url, path = (re.sub("{ (.*?) }", lambda word: words[word[1]], binstall[name]) for name in ("pkg-url", "bin-dir"))
    assert Path(url).name == archive.name and list(root.parent.glob(f"{path}*")), f"{url}, {path}"


def main(directory, sums):
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", Path(sums).resolve()], cwd=directory, check=True)
    with tempfile.TemporaryDirectory() as temporary:
        for archive in [*Path(directory).glob("*.zip"), *Path(directory).glob("*.tar.gz")]:
            shutil.unpack_archive(archive, temporary)
            root = Path(temporary, archive.name.removesuffix(".zip").removesuffix(".tar.gz"))
            subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=root, check=True)
            assert (root / "docs").is_dir() and (root / "LICENSE-MIT").is_file(), archive.name
            check_binstall(archive, root)

        tests = subprocess.run([root / "tas-mcp", "--sandbox", "tests"], capture_output=True, text=True, check=True)
        assert "Pause and resume" in tests.stdout
    print("ok      archives: every checksum, and the binary runs")


main(*sys.argv[1:])
