"""`python -m unpend`."""

from unpend.cli import main

if __name__ == "__main__":
    main()
