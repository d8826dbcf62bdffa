"""The door to dask: guarded worker processes, one per device, and work for them."""
