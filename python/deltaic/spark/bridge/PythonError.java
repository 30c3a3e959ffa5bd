package deltaic.spark;

/** An exception that was raised in Python. The original waits there under `id` and is raised again as it was. */
public class PythonError extends RuntimeException {
  private final String id;

  PythonError(String id, String message) {
    super(message);
    this.id = id;
  }

  public String id() {
    return id;
  }

  /** The id of the Python exception behind a failure, or null. */
  public static String idOf(Throwable failure) {
    Throwable at = failure;
    for (int depth = 0; at != null && depth < 50; depth++) {
      if (at instanceof PythonError) return ((PythonError) at).id();
      at = at.getCause();
    }
    return null;
  }
}
