"""From a DataFrame to data files: options, columns, rules, routes, and the commit of a write."""
