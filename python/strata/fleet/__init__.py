"""Many traces at once: `python -m strata.fleet --engine local|ray|slurm TRACE... -o FOLDER` runs
`strata export --to tables` on each, wherever there is a free core, then asks the small tables it wrote."""
