"""OpiDiff suites: a declarative YAML format for tests of PyTorch's operators and modules. Nothing here executes what a file says."""
