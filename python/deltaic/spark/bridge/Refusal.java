package deltaic.spark;

import java.util.HashMap;

/** A statement that is not supported, raised as `UnsupportedError` by Python. */
final class Refusal {
  private Refusal() {}

  /** Never returns normally: the type is for `throw Refusal.of(…)`. */
  static RuntimeException of(String what, String instead, String path) {
    HashMap request = new HashMap();
    request.put("op", "refuse");
    request.put("what", what);
    request.put("instead", instead);
    request.put("path", path);
    Python.call(request, null);
    return new UnsupportedOperationException(what + " is not supported: " + instead);
  }
}
