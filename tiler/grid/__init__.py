"""Where tiles, cores and parts lie. Integers only: no files, devices or processes."""
