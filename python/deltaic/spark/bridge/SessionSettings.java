package deltaic.spark;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.SparkSession;

/** What a session says of writes. One by one, or with all others, Python would take longer than for a small write. */
public final class SessionSettings {
  private static final String[] SAID = {
    "spark.databricks.delta.", "spark.deltaic.", "spark.sql.sources.", "spark.sql.parquet.", "spark.sql.files.", "parquet."
  };
  private static final String HADOOP = "parquet.";
  private static final String ALLOWED = "spark.deltaic.allowedLocations";
  private static final String[] OF_STORES =
      {ALLOWED, "spark.deltaic.universalFormat.allowStale", "spark.deltaic.credentials"};

  private SessionSettings() {}

  /** Options of a reading, by names in lower case, with what the active session says where they are silent. */
  static HashMap ofReading(HashMap options) {
    if (options.containsKey("allowedlocations")) return options;
    String allowed = SparkSession.active().conf().get(ALLOWED, null);
    if (allowed != null) options.put("allowedlocations", allowed);
    return options;
  }

  /** As a JSON object. */
  public static String of(SparkSession session) {
    HashMap found = new HashMap();
    Map set = Scala.map(session.conf().getAll());
    for (Iterator i = set.entrySet().iterator(); i.hasNext(); ) {
      Map.Entry setting = (Map.Entry) i.next();
      String name = (String) setting.getKey();
      for (int k = 0; k < SAID.length; k++) {
        if (name.startsWith(SAID[k])) found.put(name, setting.getValue());
      }
    }
    Map hadoop = session.sparkContext().hadoopConfiguration().getPropsWithPrefix(HADOOP);
    for (Iterator i = hadoop.entrySet().iterator(); i.hasNext(); ) {
      Map.Entry setting = (Map.Entry) i.next();
      found.put("spark.hadoop." + HADOOP + setting.getKey(), setting.getValue());
    }
    found.putAll(StoreSettings.of(session, set));
    return Python.write(found);
  }

  /** As a JSON object: what the session says of stores alone. */
  public static String ofStores(SparkSession session) {
    HashMap found = StoreSettings.of(session);
    for (int i = 0; i < OF_STORES.length; i++) {
      String value = session.conf().get(OF_STORES[i], null);
      if (value != null) found.put(OF_STORES[i], value);
    }
    return Python.write(found);
  }
}
