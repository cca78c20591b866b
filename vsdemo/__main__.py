"""`python -m vsdemo`: enters the command line."""

from vsdemo.cli import main

if __name__ == "__main__":
    main()
