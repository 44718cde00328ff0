"""Unpacks the archives of a release, checks every checksum, and starts the binary of this platform.
Usage: check_archive.py DIRECTORY SUMS"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COMPLETIONS = {"tas-mcp.bash", "_tas-mcp", "tas-mcp.fish", "tas-mcp.ps1", "tas-mcp.elv"}
LICENSES = {"LICENSE-APACHE", "LICENSE-MIT"}
TEXTS = {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "mcp.json.example"}
DOCUMENTS = LICENSES | TEXTS | {"SHA256SUMS", "man", "completions", "docs"}


def check(archive, directory):
    """Unpacks an archive, and checks its files. Returns its directory."""
    shutil.unpack_archive(archive, directory)
    root = Path(directory, archive.name.removesuffix(".zip").removesuffix(".tar.gz"))
    program = "tas-mcp.exe" if archive.suffix == ".zip" else "tas-mcp"
    assert {path.name for path in root.iterdir()} == DOCUMENTS | {program}
    assert {path.name for path in (root / "completions").iterdir()} == COMPLETIONS
    assert (root / "man/tas-mcp.1").exists() and (root / "man/tas-mcp-run-plan.1").exists()

    checksums = (root / "SHA256SUMS").read_text().splitlines()
    files = [path for path in root.rglob("*") if path.is_file()]
    assert len(checksums) == len(files) - 1, "a file has no checksum"
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=root, check=True)
    return root


def run(root, *arguments):
    done = subprocess.run([root / "tas-mcp", *arguments], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def main(directory, sums):
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", Path(sums).resolve()], cwd=directory, check=True)
    with tempfile.TemporaryDirectory() as temporary:
        check(next(Path(directory).glob("*.zip")), temporary)
        root = check(next(Path(directory).glob("*.tar.gz")), temporary)
        version = run(root, "--version").split()[1]
        assert root.name.startswith(f"tas-mcp-{version}-"), f"{root.name} has version {version}"
        assert "Pause and resume" in run(root, "--sandbox", "tests")
        for name, shell in [("tas-mcp.bash", "bash"), ("_tas-mcp", "zsh"), ("tas-mcp.fish", "fish")]:
            assert (root / "completions" / name).read_text() == run(root, "completions", shell), name
    print("ok      archives: the same bytes twice, every checksum, and the binary runs")


main(*sys.argv[1:])
