package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.BiFunction;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.spark.unsafe.Platform;

/**
 * The only access to the Python driver. A request is a JSON object with the key `op`, after its HMAC, which proves to Python that
 * it comes from this JVM and does not reveal the secret in a log or an error of py4j; a DataFrame is sent beside it. It also
 * has the session's current settings of stores: credentials may be others than when a frame was made.
 */
public final class Python {
  private static final ObjectMapper JSON = new ObjectMapper();
  /** Marks the answer of a call that failed: Python cannot throw a typed exception through py4j. */
  private static final String FAILED = "\u0000failed\u0000";
  private static final String DELTA_JAR = "org/apache/spark/sql/delta/sources/DeltaDataSource.class";
  /** No format has this name: where nothing serves a session, `delta` is what it was without us. */
  private static final String NOT_SERVED = "deltaic-not-enabled";
  private static final BiFunction CALLS = new BiFunction() {
    public Object apply(Object request, Object data) {
      return answer((String) request, data);
    }
  };
  private static volatile Driver driver;
  /** What starts the driver where it is needed, or null where Python is the driver itself. */
  private static volatile Agent agent;
  private static volatile String format = NOT_SERVED;

  private Python() {}

  public static void connect(BiFunction function, String secret, String formatName) {
    driver = new Driver(function, secret);
    format = formatName;
  }

  /** From now on this agent is started for the first request, and again where it has died. */
  static void serveBy(Agent starts) {
    agent = starts;
    if (driver == null) format = ownFormat();
  }

  /** Whether these classes serve a session. */
  static boolean serves() {
    return driver != null || agent != null;
  }

  /** Whether a process of the server answers, and not the driver itself. */
  static boolean byAgent() {
    return agent != null;
  }

  /** The name that the format has here: `delta`, or `deltaic` beside the Delta JAR. */
  static String format() {
    if (serves()) return format;
    return Home.other(Python.class) == null ? NOT_SERVED : ownFormat();
  }

  private static String ownFormat() {
    return Python.class.getClassLoader().getResource(DELTA_JAR) == null ? "delta" : "deltaic";
  }

  /** What answers the requests of these classes, for copies of them. */
  public static BiFunction calls() {
    return CALLS;
  }

  static Object call(Map request, Object data) {
    BiFunction home = serves() ? CALLS : Home.calls();
    if (home == null) throw new IllegalStateException("deltaic.enable(spark) was not called in this process");
    HashMap whole = new HashMap(request);
    HashMap store = StoreSettings.ofActive(request);
    if (!store.isEmpty()) whole.put("store", store);
    Object answer = home.apply(write(whole), data);
    // what Spark itself raised within the call, where a client is to get it from this JVM
    if (answer instanceof Throwable) Platform.throwException((Throwable) answer);
    if (answer instanceof String && ((String) answer).startsWith(FAILED)) {
      throw raised(((String) answer).substring(FAILED.length()).split("\u0000", 3));
    }
    return answer;
  }

  /** Of the id, the condition and what belongs to it as JSON, and the text. */
  private static PythonError raised(String[] parts) {
    JsonNode of = read(parts[1]);
    if (!of.hasNonNull("condition")) return new PythonError(parts[0], parts[2]);
    HashMap parameters = new HashMap();
    for (Iterator i = of.get("parameters").fields(); i.hasNext(); ) {
      Map.Entry one = (Map.Entry) i.next();
      parameters.put(one.getKey(), ((JsonNode) one.getValue()).asText());
    }
    String state = of.hasNonNull("sqlState") ? of.get("sqlState").asText() : null;
    return new ConditionError(parts[0], parts[2], of.get("condition").asText(), state, parameters);
  }

  private static Object answer(String request, Object data) {
    if (agent != null) {
      JsonNode said = agent.keep();
      if (said.has("refused")) throw new IllegalStateException("no Python serves Delta tables here: " + said.get("refused").asText());
    }
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    // Python asks for classes by their names
    thread.setContextClassLoader(Home.within(before));
    try {
      return driver.answer(request, data);
    } finally {
      thread.setContextClassLoader(before);
    }
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
