package deltaic.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.streaming.OutputMode;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/** A table as a streaming sink: each batch is one commit, which also says that the batch is done. */
final class StreamSink implements Sink {
  private final HashMap given = new HashMap();
  /** Whether the last batch had few rows. */
  private boolean few;

  StreamSink(Map options, Seq partitionColumns, OutputMode mode) {
    given.put("options", SessionSettings.ofReading(OpenTable.lowerCased(options)));
    given.put("partitioning", new ArrayList(Scala.list(partitionColumns)));
    given.put("mode", mode.toString().toLowerCase(Locale.ROOT));
    HashMap request = new HashMap(given);
    request.put("op", "sinkOpen");
    Python.call(request, null);
  }

  public void addBatch(long batch, Dataset data) {
    org.apache.spark.sql.classic.Dataset rows = (org.apache.spark.sql.classic.Dataset) data;
    org.apache.spark.sql.classic.SparkSession session = (org.apache.spark.sql.classic.SparkSession) rows.sparkSession();
    HashMap request = new HashMap(given);
    request.put("op", "sinkAdd");
    request.put("batch", Long.valueOf(batch));
    request.put("few", Boolean.valueOf(few && !SmallRows.spread(rows.queryExecution().optimizedPlan())
        && !keepsState(rows.queryExecution().executedPlan())));
    // the thread of a query carries its id, which is the same after a restart
    request.put("query", session.sparkContext().getLocalProperty("sql.streaming.queryId"));
    // the frame is a stream still and cannot be written: its rows, as Spark plans them for this batch, can
    HashMap frames = new HashMap();
    frames.put("rows", session.internalCreateDataFrame(rows.queryExecution().toRdd(), rows.schema(), false));
    frames.put("batch", rows);
    few = Boolean.TRUE.equals(Python.call(request, frames));
  }

  /** Whether tasks of a batch commit state, which a second look at its rows would commit again. */
  private static boolean keepsState(SparkPlan batch) {
    return batch.exists(new AbstractFunction1() {
      public Object apply(Object node) {
        return Boolean.valueOf(isStateful(node.getClass()));
      }
    });
  }

  /** By name: the package moved in Spark 4.1. */
  private static boolean isStateful(Class type) {
    if (type == null) return false;
    if (type.getSimpleName().equals("StatefulOperator") || isStateful(type.getSuperclass())) return true;
    for (int i = 0; i < type.getInterfaces().length; i++) if (isStateful(type.getInterfaces()[i])) return true;
    return false;
  }

  public String toString() {
    return "Delta[" + ((Map) given.get("options")).get("path") + "]";
  }
}
