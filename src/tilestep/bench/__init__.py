"""The ladder: our attention kernels, rung by rung, beside every peer that is installed, timed in one run."""
