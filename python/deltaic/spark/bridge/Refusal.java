package deltaic.spark;

import java.util.HashMap;

/** A statement that is not supported, raised as `UnsupportedError` by Python. */
final class Refusal {
  private Refusal() {}

  /** Never returns normally: the type is for `throw Refusal.of(…)`. */
  static RuntimeException of(String what, String instead, String path) {
    return of(what, instead, path, null, new String[0]);
  }

  /** The same with a condition, or null, whose parameters come as name and value in turn. */
  static RuntimeException of(String what, String instead, String path, String condition, String[] parameters) {
    HashMap request = new HashMap();
    request.put("condition", condition);
    request.put("parameters", named(parameters));
    request.put("op", "refuse");
    request.put("what", what);
    request.put("instead", instead);
    request.put("path", path);
    Python.call(request, null);
    return new UnsupportedOperationException(what + " is not supported: " + instead);
  }

  /** An argument that makes no sense, raised as `InvalidArgumentError` of a condition, whose parameters come as name and value in turn. */
  static RuntimeException ofArgument(String argument, String reason, String condition, String[] parameters) {
    return raise("refuseArgument", argument, reason, condition, parameters);
  }

  /** Rows that do not fit a table, raised as `SchemaMismatchError` of a condition. */
  static RuntimeException ofRows(String path, String reason, String condition, String[] parameters) {
    return raise("refuseRows", path, reason, condition, parameters);
  }

  /** Rows of too few columns or fields; `what` says of which. */
  static RuntimeException ofFewRows(DeltaTable table, String what, int there, int given) {
    String reason = what + ": the table has " + there + ", the rows have " + given;
    return ofRows(table.table.path, reason, "DELTA_INSERT_COLUMN_ARITY_MISMATCH", new String[] {"tableName", table.name(),
        "columnName", what, "numColumns", String.valueOf(there), "insertColumns", String.valueOf(given)});
  }

  private static RuntimeException raise(String op, String of, String reason, String condition, String[] parameters) {
    HashMap request = new HashMap();
    request.put("op", op);
    request.put("of", of);
    request.put("reason", reason);
    request.put("condition", condition);
    request.put("parameters", named(parameters));
    Python.call(request, null);
    return new IllegalArgumentException(of + ": " + reason);
  }

  private static HashMap named(String[] parameters) {
    HashMap named = new HashMap();
    for (int i = 0; i < parameters.length; i += 2) named.put(parameters[i], parameters[i + 1]);
    return named;
  }
}
