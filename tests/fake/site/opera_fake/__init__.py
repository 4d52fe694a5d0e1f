"""A library and compilers that misbehave on demand, registered by entry points as a third party would."""
