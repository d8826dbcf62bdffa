"""Job files and model cards: read, checked, and told what is wrong with them."""
