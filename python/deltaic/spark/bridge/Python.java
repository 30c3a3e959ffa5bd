package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import java.util.function.BiFunction;

/** The one door to the Python driver. A request is a JSON object with the key `op`; a DataFrame travels beside it. */
public final class Python {
  private static final ObjectMapper JSON = new ObjectMapper();
  /** Marks the answer of a call that failed: Python cannot throw a typed exception through py4j. */
  private static final String FAILED = "\u0000failed\u0000";
  private static volatile BiFunction callback;
  private static volatile String format = "delta";

  private Python() {}

  public static void connect(BiFunction function, String formatName) {
    callback = function;
    format = formatName;
  }

  /** The name that the format has here: `delta`, or `deltaic` beside the Delta JAR. */
  static String format() {
    return format;
  }

  static Object call(Map request, Object data) {
    BiFunction function = callback;
    if (function == null) throw new IllegalStateException("deltaic.enable(spark) was not called in this process");
    Object answer = function.apply(write(request), data);
    if (answer instanceof String && ((String) answer).startsWith(FAILED)) {
      String[] parts = ((String) answer).substring(FAILED.length()).split("\u0000", 2);
      throw new PythonError(parts[0], parts[1]);
    }
    return answer;
  }

  static String write(Object value) {
    try {
      return JSON.writeValueAsString(value);
    } catch (java.io.IOException e) {
      throw new IllegalStateException(e);
    }
  }

  static JsonNode read(String json) {
    try {
      return JSON.readTree(json);
    } catch (java.io.IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
