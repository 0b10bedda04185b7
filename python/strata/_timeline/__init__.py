"""Timelines recorded from inside: strata.timeline, strata.profile, those of selected stages, and what
`strata run --level timeline` does if CUPTI cannot record."""
