"""`python -m vsdemo`: enters the command line."""

from vsdemo.core import startup

if __name__ == "__main__":
    with startup.importing():
        from vsdemo.cli import main
    main()
