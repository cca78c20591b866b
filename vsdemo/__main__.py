"""`python -m vsdemo`: enters the command line."""

from vsdemo.core import interrupts

if __name__ == "__main__":
    with interrupts.ending_quietly():
        from vsdemo.cli import main
    main()
