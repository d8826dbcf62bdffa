"""What is done to pixels: NumPy arrays in, NumPy arrays out."""
