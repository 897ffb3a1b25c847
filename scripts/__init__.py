"""Tools of the repository: what writes the files that are kept in it, and `make mutants`."""
