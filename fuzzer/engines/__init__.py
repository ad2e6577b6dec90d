"""Workers on a cluster: Dask and Ray as a campaign's workforce. Imported where `--on` asks for it."""
