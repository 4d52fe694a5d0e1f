"""`python -m opera.prioritize`: the same as `opera prioritize`."""

from opera.cli.options import stage
from opera.cli.prioritize import command

main = stage(command, "opera.prioritize")

if __name__ == "__main__":
    main()
