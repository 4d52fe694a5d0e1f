"""What an instance becomes: models per library, reproducers, the HTML report.

The model templates run inside a worker, beside the library; the texts are Jinja templates that the driver fills in.
"""
