"""The door to GDAL: scenes read, label maps written."""
