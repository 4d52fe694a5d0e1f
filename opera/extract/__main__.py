"""`python -m opera.extract`: the same as `opera extract`."""

from opera.cli.extract import command
from opera.cli.options import stage

main = stage(command, "opera.extract")

if __name__ == "__main__":
    main()
