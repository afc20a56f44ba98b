"""What the steps share that fold each row of a matrix to one value: matrices, bounds, wrong folds."""
