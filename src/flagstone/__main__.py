"""``python -m flagstone`` is the command ``flagstone``."""

from flagstone.cli import main

if __name__ == "__main__":
    main()
