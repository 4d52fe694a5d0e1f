"""Single-operator models: templates applied to instances, with inputs and the library's own outputs."""
