"""CUDA C++ on a CPU: a machine of fibers that emits events, and checkers that listen."""
