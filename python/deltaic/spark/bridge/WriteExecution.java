package deltaic.spark;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.CollectMetrics;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.sql.execution.streaming.Sink;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction1;

/**
 * Runs what computes the rows of a write, so that Spark tells observations and listeners of the user of it, under the name
 * that delta-spark gives it. An observation is told once: only what computes all rows, and is not tried, may run so.
 */
public final class WriteExecution {
  static final scala.Option NAME = scala.Option.apply("deltaTransactionalWrite");

  private WriteExecution() {}

  /** Writes rows of a clone of a session by a sink of Spark's for files. */
  public static void addBatch(final Object sink, final Dataset rows, SparkSession session) {
    try {
      SQLExecution$.MODULE$.withNewExecutionId(rows.queryExecution(), NAME, new AbstractFunction0() {
        public Object apply() {
          ((Sink) sink).addBatch(0L, rows);
          return null;
        }
      });
    } finally {
      tell(session, rows.queryExecution());
    }
  }

  /** From Spark 4.2 on, a query tells only the observations of its own session; before, clones tell its listeners. */
  private static void tell(SparkSession session, QueryExecution query) {
    if (!observes(query.logical())) return;
    Object manager = ((org.apache.spark.sql.classic.SparkSession) session).observationManager();
    try {
      manager.getClass().getMethod("tryComplete", new Class[] {QueryExecution.class}).invoke(manager, new Object[] {query});
    } catch (NoSuchMethodException e) {
      // an older Spark
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Whether the user observes metrics of a query. */
  static boolean observes(LogicalPlan plan) {
    return plan.exists(new AbstractFunction1() {
      public Object apply(Object node) {
        return Boolean.valueOf(node instanceof CollectMetrics);
      }
    });
  }
}
