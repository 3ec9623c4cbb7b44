"""Runs Satchel, its peers and the limits side by side, and writes down what came out."""
