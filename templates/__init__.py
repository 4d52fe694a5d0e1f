"""What an instance becomes: models per library, reproducers, the HTML report.

The model templates run in the library's worker; the texts are Jinja templates that the driver fills in.
"""
