"""The routes of a DataFrame's rows into data files; each returns the `add` actions of what it wrote."""
