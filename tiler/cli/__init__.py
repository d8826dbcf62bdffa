"""The command line: options in, one call of the layers below, text out."""
