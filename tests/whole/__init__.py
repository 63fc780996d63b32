"""One build from its submit to its verdict, with everything real."""
