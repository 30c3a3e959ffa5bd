package deltaic.spark;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.SparkSession;

/** What a session says of writes. One by one, or with all others, Python would take longer than for a small write. */
public final class SessionSettings {
  private static final String DELTA = "spark.databricks.delta.";
  private static final String SOURCES = "spark.sql.sources.";

  private SessionSettings() {}

  /** As a JSON object. */
  public static String of(SparkSession session) {
    HashMap found = new HashMap();
    for (Iterator i = Scala.map(session.conf().getAll()).entrySet().iterator(); i.hasNext(); ) {
      Map.Entry setting = (Map.Entry) i.next();
      String name = (String) setting.getKey();
      if (name.startsWith(DELTA) || name.startsWith(SOURCES)) found.put(name, setting.getValue());
    }
    return Python.write(found);
  }
}
