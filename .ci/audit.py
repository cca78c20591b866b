"""Looks up the installed packages in PyPI's database of vulnerabilities.

It fails only if there is a version without a vulnerability that is known, and says so where the
database cannot be reached. `pip-audit` is installed for it in an environment of its own.
"""

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

NOT_AUDITED = "not audited: no connection to the database of vulnerabilities"


def main() -> int:
    """Install pip-audit if it is missing, run it, and return the exit code."""
    folder = Path(sys.prefix).with_name(f"{Path(sys.prefix).name}-audit")
    program = folder / "bin" / "pip-audit"
    installed = sysconfig.get_path("purelib")
    words = [str(program), "--path", installed, "--format", "json", "--progress-spinner", "off"]
    try:
        if not program.exists():
            venv.create(folder, with_pip=True, clear=True)
            install = [str(folder / "bin" / "pip"), "install", "-q", "pip-audit>=2.9"]
            subprocess.run(install, check=True, timeout=300)
        audit = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return report("", str(error))
    return report(audit.stdout)


def report(answer: str, problem: str = "") -> int:
    """Print the result, and return the exit code.

    Args:
        answer: What pip-audit printed, JSON.
        problem: Why it printed nothing.
    """
    try:
        packages = json.loads(answer)["dependencies"]
    except (ValueError, LookupError, TypeError):
        print(f"{NOT_AUDITED} ({problem})" if problem else NOT_AUDITED)
        return 0
    audited = [package for package in packages if "skip_reason" not in package]
    if not audited:
        print(NOT_AUDITED)
        return 0
    fixable = 0
    for package in audited:
        for flaw in package["vulns"]:
            fixed = ", ".join(flaw["fix_versions"])
            fixable += bool(fixed)
            remedy = f"fixed in {fixed}" if fixed else "not fixed yet"
            print(f"{package['name']} {package['version']}: {flaw['id']}, {remedy}")
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    print(f"{len(audited)} packages audited, {fixable} to be updated")
    if skipped:
        print(f"not in the database: {', '.join(sorted(skipped))}")
    return 1 if fixable else 0


if __name__ == "__main__":
    sys.exit(main())
