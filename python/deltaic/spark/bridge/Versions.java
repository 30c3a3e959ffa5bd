package deltaic.spark;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.QueryPlanningTracker;

/** Which version of a table a query reads: the newest one when it is planned, and one version in all of its scans. */
final class Versions {
  private static final String STALENESS = "spark.databricks.delta.stalenessLimit";
  private static final int REMEMBERED = 64;

  /** By query: tables by their reading, and the first one of each place by that. Spark makes one tracker a query, which it has on the thread that plans it. */
  private static final WeakHashMap PINNED = new WeakHashMap();
  /** By reading: the newest version that was seen, for sessions that accept stale answers. */
  private static final LinkedHashMap SEEN = new LinkedHashMap(16, 0.75f, true);

  private Versions() {}

  private static final class Seen {
    final OpenTable table;
    final long at = System.nanoTime();

    Seen(OpenTable table) {
      this.table = table;
    }
  }

  /** The version of a table that the query that is planned now reads. Costs one listing of its log the first time. */
  static OpenTable ofQuery(OpenTable table) {
    scala.Option tracker = QueryPlanningTracker.get();
    if (tracker.isEmpty()) return newest(table);
    HashMap pinned;
    synchronized (PINNED) {
      pinned = (HashMap) PINNED.get(tracker.get());
      if (pinned == null) {
        pinned = new HashMap();
        PINNED.put(tracker.get(), pinned);
      }
    }
    synchronized (pinned) {
      OpenTable version = (OpenTable) pinned.get(table.reading());
      if (version != null) return version;
      // scans by other options read the same version
      OpenTable first = (OpenTable) pinned.get(table.place());
      version = first == null ? newest(table) : table.inVersion(first.version);
      pinned.put(table.reading(), version);
      if (first == null) pinned.put(table.place(), version);
      return version;
    }
  }

  /** The newest version, or one that was it as long ago as the session accepts. */
  static OpenTable newest(OpenTable table) {
    long limit = JavaUtils.timeStringAsMs(SparkSession.active().conf().get(STALENESS, "0"));
    Seen seen;
    synchronized (SEEN) {
      seen = (Seen) SEEN.get(table.reading());
    }
    if (seen != null && limit > 0 && System.nanoTime() - seen.at < limit * 1000000L) return seen.table;
    // what was seen last needs no new object where it is the newest still
    OpenTable newest = (seen == null ? table : seen.table).newest();
    learn(newest);
    return newest;
  }

  /** A version was the newest one just now. */
  static void learn(OpenTable table) {
    synchronized (SEEN) {
      SEEN.put(table.reading(), new Seen(table));
      if (SEEN.size() > REMEMBERED) SEEN.remove(((Map.Entry) SEEN.entrySet().iterator().next()).getKey());
    }
  }

  /** This session committed: nobody in it reads an older version, whatever it accepts. */
  static void forget(String place) {
    synchronized (SEEN) {
      for (Iterator i = SEEN.keySet().iterator(); i.hasNext(); ) {
        if (((String) i.next()).startsWith(place + "\n")) i.remove();
      }
    }
  }
}
