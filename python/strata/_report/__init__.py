"""What comes out of a run: timing.json and its table, environment.json, the page of a trace."""
