package deltaic.spark;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;

/**
 * Makes the catalog of a clone one of these classes: its class loader has copies, whose tables the rules do not know. Before
 * the first name is resolved, and once.
 */
public final class OwnCatalog extends Rule {
  private static final String CATALOG = "spark.sql.catalog.spark_catalog";
  private final SparkSession session;
  private boolean done;

  OwnCatalog(SparkSession session) {
    this.session = session;
  }

  public TreeNode apply(TreeNode plan) {
    if (!done) load();
    done = true;
    return (LogicalPlan) plan;
  }

  private void load() {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    if (!Python.byAgent() || !SessionCatalog.class.getName().equals(session.conf().get(CATALOG, ""))) return;
    thread.setContextClassLoader(Home.within(before));
    try {
      ((org.apache.spark.sql.classic.SparkSession) session).sessionState().catalogManager().v2SessionCatalog();
    } finally {
      thread.setContextClassLoader(before);
    }
  }
}
