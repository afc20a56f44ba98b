"""The softmax of a row: what is fed, how far off it may be, and what goes wrong. Three steps share it."""
