package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.python.Py4JServer;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.SparkSession;

/**
 * A Python process of a server without a Python driver, attached to this JVM by py4j. It serves one session, or all of the
 * server's. It is started when it is needed first, and again after it died; it ends with what it serves and with this JVM,
 * because its input ends.
 */
public final class Agent {
  private static final String MODULE = "deltaic.spark.bridge.agent";
  private static final String PATH = "DELTAIC_SPARK_PYTHONPATH";
  // Spark's own PySpark, which is in a ZIP and slow to import, is behind an installed one; there is an answer also where
  // something cannot be imported
  private static final String PROGRAM = "import json, os, sys\nsys.path += os.environ['" + PATH + "'].split(os.pathsep)\ntry:\n"
      + "    from " + MODULE + " import main\nexcept ImportError as error:\n"
      + "    print(json.dumps({'refused': f'its Python ({sys.executable}) cannot import what it needs ({error})'}))\n"
      + "else:\n    main()\n";
  private static final long STARTS_WITHIN = 120000;
  /** The session that the agent of these classes serves, or null. */
  private static volatile SparkSession session;

  private final SparkSession serves;
  private volatile Process process;
  private volatile Py4JServer gateway;
  private volatile boolean closed;
  private JsonNode answer;

  Agent(SparkSession serves) {
    this.serves = serves;
  }

  /** For the process: the one session that it serves, or null for all. */
  public static SparkSession session() {
    return session;
  }

  /** Starts the process unless it runs, and returns what it said then: `ready`, or why it was `refused`. */
  synchronized JsonNode keep() {
    Process before = process;
    if (before != null && before.isAlive()) return answer;
    if (closed) throw new IllegalStateException("the session has ended, of which this one is a clone");
    end();
    session = serves;
    JsonNode said = null;
    try {
      said = started();
    } catch (IOException e) {
      said = refused("its Python `" + python() + "` does not start (" + e.getMessage() + ")");
    } finally {
      // also where a class of ours is missing, because the session and its class loader have ended
      if (closed || said == null || !said.has("ready")) end();
    }
    answer = closed ? refused("the session ended before its Python was ready") : said;
    return answer;
  }

  /**
   * What it serves has ended: it does not start again. It does not wait for one that is starting, since the server tells of
   * all that ends in one thread.
   */
  void close() {
    closed = true;
    end();
  }

  private void end() {
    Process runs = process;
    Py4JServer open = gateway;
    process = null;
    gateway = null;
    if (runs != null) runs.destroy();
    if (open != null) open.shutdown();
  }

  private static JsonNode refused(String why) {
    HashMap refused = new HashMap();
    refused.put("refused", why);
    return Python.read(Python.write(refused));
  }

  private JsonNode started() throws IOException {
    Py4JServer server = new Py4JServer(SparkContext.getOrCreate().conf());
    gateway = server;
    server.start();
    ProcessBuilder builder = new ProcessBuilder(new String[] {python(), "-c", PROGRAM});
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    Map environment = builder.environment();
    environment.put(PATH, PythonUtils.sparkPythonPath());
    // of a client; and the process is the classic side
    environment.remove("SPARK_REMOTE");
    environment.remove("SPARK_CONNECT_MODE_ENABLED");
    environment.put("SPARK_CONNECT_MODE", "0");
    environment.put("SPARK_API_MODE", "classic");
    Process started = builder.start();
    process = started;
    Thread watch = stopUnlessReady(started);
    try {
      HashMap given = new HashMap();
      given.put("port", Integer.valueOf(server.getListeningPort()));
      // not in its environment, which others may see
      given.put("secret", server.secret());
      given.put("sources", Build.sources());
      try {
        OutputStream input = started.getOutputStream();
        input.write((Python.write(given) + "\n").getBytes(StandardCharsets.UTF_8));
        input.flush();
      } catch (IOException e) {
        // it has ended before it read this: what it said counts
      }
      String line = new BufferedReader(new InputStreamReader(started.getInputStream(), StandardCharsets.UTF_8)).readLine();
      if (line == null) throw new IOException("it ended; the log of the server has its last words");
      return Python.read(line);
    } finally {
      watch.interrupt();
    }
  }

  /** A process that says nothing must not keep a query waiting for ever. */
  private static Thread stopUnlessReady(final Process started) {
    Thread watch = new Thread("deltaic-agent-start") {
      public void run() {
        try {
          Thread.sleep(STARTS_WITHIN);
          started.destroy();
        } catch (InterruptedException e) {
          // it has answered
        }
      }
    };
    watch.setDaemon(true);
    watch.start();
    return watch;
  }

  /** The Python that Spark itself would start. */
  private static String python() {
    SparkConf conf = SparkContext.getOrCreate().conf();
    String[] said = {conf.get("spark.pyspark.driver.python", null), conf.get("spark.pyspark.python", null),
        System.getenv("PYSPARK_DRIVER_PYTHON"), System.getenv("PYSPARK_PYTHON")};
    for (int i = 0; i < said.length; i++) if (said[i] != null && !said[i].isEmpty()) return said[i];
    return "python3";
  }
}
