package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.sources.RelationProvider;
import org.apache.spark.sql.types.StringType$;
import org.apache.spark.sql.types.StructType;

/**
 * By this a client of Spark Connect, which has uploaded these classes, attaches an agent to its session: it reads the format
 * `deltaic.spark.Door` and finds the answer in the comment of the only column. That is one request, and no job.
 */
public final class Door implements RelationProvider {
  /** A server's own setting, which no session can change. */
  private static final String ALLOWED = "spark.deltaic.connect.clientDoor";
  private static final String ISOLATED = "spark.sql.artifact.isolation.enabled";

  public BaseRelation createRelation(SQLContext context, scala.collection.immutable.Map options) {
    final SQLContext c = context;
    String answer = attach((SparkSession) context.sparkSession(), Scala.map(options));
    final StructType schema = new StructType().add("answer", StringType$.MODULE$, true, answer);
    return new BaseRelation() {
      public SQLContext sqlContext() {
        return c;
      }

      public StructType schema() {
        return schema;
      }
    };
  }

  private static synchronized String attach(SparkSession session, Map options) {
    if (Home.of(session) != null) {
      HashMap ready = new HashMap();
      ready.put("ready", new String[0]);
      ready.put("format", Python.format());
      return Python.write(ready);
    }
    if (!SparkContext.getOrCreate().conf().getBoolean(ALLOWED, true)) return refused("its admin does not allow it (" + ALLOWED + ")");
    if (!session.conf().get(ISOLATED, "true").equals("true") || Python.serves()) {
      return refused("it does not keep the classes of its sessions apart (" + ISOLATED + ")");
    }
    Agent agent = new Agent(session);
    // before it starts: a session can end meanwhile
    SessionEnd end = SessionEnd.await(session, (String) options.get("session"), agent);
    boolean ready = false;
    try {
      JsonNode answer = agent.keep();
      ready = answer.has("ready");
      if (ready) {
        Python.serveBy(agent);
        // a client that comes back, and the function of a stream, need not attach
        session.conf().set(ServedApplication.SERVED, Python.format());
      }
      return answer.toString();
    } finally {
      if (!ready) end.forget();
    }
  }

  private static String refused(String why) {
    HashMap answer = new HashMap();
    answer.put("refused", why);
    return Python.write(answer);
  }
}
