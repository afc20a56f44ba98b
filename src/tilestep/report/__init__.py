"""Shows a verdict to a person or a program."""
