"""Where a Program runs: today a CPU; a GPU later, behind the same protocol."""
