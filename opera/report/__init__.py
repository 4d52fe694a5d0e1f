"""What a person reads: tables on a terminal, one HTML file, scripts that reproduce."""
