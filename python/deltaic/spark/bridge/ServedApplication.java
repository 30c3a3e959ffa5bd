package deltaic.spark;

import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;

/** An application whose settings name these classes: one agent serves all its sessions, and ends with it. */
final class ServedApplication extends SparkListener {
  private static final String CATALOG = "spark.sql.catalog.spark_catalog";
  /** Tells clients, in each session, the name of the format. */
  static final String SERVED = "spark.deltaic.served";
  private static SparkContext served;

  private final Agent agent = new Agent(null);

  private ServedApplication() {}

  /** Before the first session reads its settings. Idempotent. */
  static synchronized void begin(SparkContext context) {
    if (context == served) return;
    ServedApplication begun = new ServedApplication();
    Python.serveBy(begun.agent);
    SparkConf conf = context.conf();
    // another catalog is the admin's own choice: tables by path work beside it
    if (!conf.contains(CATALOG)) conf.set(CATALOG, SessionCatalog.class.getName());
    conf.set(SERVED, Python.format());
    HideOptions.inContext(context);
    context.addSparkListener(begun);
    served = context;
  }

  public void onApplicationEnd(SparkListenerApplicationEnd end) {
    agent.close();
  }
}
