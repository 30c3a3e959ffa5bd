package deltaic.spark;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Delta tables for all sessions and all clients of a server: `spark.jars` names this JAR, and `spark.plugins` this class. One
 * agent serves all. It starts with the first query that needs it.
 */
public final class Plugin implements SparkPlugin {
  private static final String EXTENSIONS = "spark.sql.extensions";

  public DriverPlugin driverPlugin() {
    return new OnDriver();
  }

  public ExecutorPlugin executorPlugin() {
    return null;
  }

  private static final class OnDriver implements DriverPlugin {
    /** Before the first session is made. */
    public Map init(SparkContext context, PluginContext plugin) {
      SparkConf conf = context.conf();
      String before = conf.get(EXTENSIONS, "");
      conf.set(EXTENSIONS, before.isEmpty() ? Extension.class.getName() : before + "," + Extension.class.getName());
      ServedApplication.begin(context);
      return new HashMap();
    }
  }
}
