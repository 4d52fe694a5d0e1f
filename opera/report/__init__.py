"""Reports: tables on a terminal, one HTML file, scripts that reproduce a finding."""
