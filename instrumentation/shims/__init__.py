"""Stand-ins for what a library's tests need and its distribution leaves out."""
