package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiFunction;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The only access to the Python driver. A request is a JSON object with the key `op`, after its HMAC, which proves to Python that
 * it comes from this JVM and does not reveal the secret in a log or an error of py4j; a DataFrame is sent beside it. It also
 * has the session's current settings of stores: credentials may be others than when a frame was made.
 */
public final class Python {
  private static final ObjectMapper JSON = new ObjectMapper();
  /** Marks the answer of a call that failed: Python cannot throw a typed exception through py4j. */
  private static final String FAILED = "\u0000failed\u0000";
  private static volatile Driver driver;
  private static volatile String format = "delta";

  private Python() {}

  public static void connect(BiFunction function, String secret, String formatName) {
    driver = new Driver(function, secret);
    format = formatName;
  }

  /** The name that the format has here: `delta`, or `deltaic` beside the Delta JAR. */
  static String format() {
    return format;
  }

  static Object call(Map request, Object data) {
    Driver asked = driver;
    if (asked == null) throw new IllegalStateException("deltaic.enable(spark) was not called in this process");
    HashMap whole = new HashMap(request);
    HashMap store = StoreSettings.ofActive(request);
    if (!store.isEmpty()) whole.put("store", store);
    Object answer = asked.answer(write(whole), data);
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

  /** A Python driver, and the secret that it shares with this JVM. */
  private static final class Driver {
    private static final String SEAL = "HmacSHA256";
    private final BiFunction callback;
    private final SecretKeySpec secret;

    Driver(BiFunction callback, String secret) {
      this.callback = callback;
      this.secret = new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), SEAL);
    }

    Object answer(String request, Object data) {
      return callback.apply(seal(request) + request, data);
    }

    private String seal(String request) {
      try {
        Mac mac = Mac.getInstance(SEAL);
        mac.init(secret);
        return String.format("%064x", new Object[] {new BigInteger(1, mac.doFinal(request.getBytes(StandardCharsets.UTF_8)))});
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
