"""Read a submission: one module a language, each turns a file into a Program."""
