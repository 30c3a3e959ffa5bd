package deltaic.spark;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;

/**
 * Makes the catalog of a session one of these classes: the class loader of a clone, and the one after another JAR came, have
 * copies, whose tables the rules do not know. Before the first name is resolved, and once.
 */
public final class OwnCatalog extends Rule {
  private static final String CATALOG = "spark.sql.catalog.spark_catalog";
  private final SparkSession session;
  private boolean done;

  OwnCatalog(SparkSession session) {
    this.session = session;
  }

  public TreeNode apply(TreeNode plan) {
    if (!done && Python.byAgent()) load(session);
    done = true;
    return (LogicalPlan) plan;
  }

  static void load(SparkSession session) {
    if (!SessionCatalog.class.getName().equals(session.conf().get(CATALOG, ""))) return;
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(Home.within(before));
    try {
      ((org.apache.spark.sql.classic.SparkSession) session).sessionState().catalogManager().v2SessionCatalog();
    } finally {
      thread.setContextClassLoader(before);
    }
  }
}
