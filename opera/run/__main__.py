"""`python -m opera.run`: the same as `opera run`."""

from opera.cli.options import stage
from opera.cli.run import command

main = stage(command, "opera.run")

if __name__ == "__main__":
    main()
