package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.sql.Timestamp;
import java.util.Iterator;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.datasources.LogicalRelation$;
import org.apache.spark.sql.functions;

/**
 * Frames of files that Python chose, for a command or for a batch of a stream. The facts (JSON) say all that Spark must
 * know to analyze them. When it plans, it asks the owner of the files for their list (deltaic/spark/read/held.py).
 */
public final class Frames {
  private Frames() {}

  /** The rows of some files of one version. */
  public static Dataset of(SparkSession session, String facts) {
    return of(session, Python.read(facts), false);
  }

  /** The rows of a batch, which has one part or more. A part may say which commit inserted all of its rows, and when. */
  static Dataset ofBatch(SparkSession session, String facts) {
    Dataset rows = null;
    for (Iterator i = Python.read(facts).elements(); i.hasNext(); ) {
      JsonNode given = (JsonNode) i.next();
      Dataset part = of(session, given, true);
      JsonNode inserted = given.get("inserted");
      if (!inserted.isNull()) {
        part = part.withColumn("_change_type", functions.lit("insert"))
            .withColumn("_commit_version", functions.lit(Long.valueOf(((JsonNode) inserted.get(0)).asLong())))
            .withColumn("_commit_timestamp", functions.lit(new Timestamp(((JsonNode) inserted.get(1)).asLong())));
      }
      rows = rows == null ? part : rows.union(part);
    }
    return rows;
  }

  private static Dataset of(SparkSession session, JsonNode facts, boolean streaming) {
    return org.apache.spark.sql.classic.Dataset$.MODULE$.ofRows((org.apache.spark.sql.classic.SparkSession) session,
        LogicalRelation$.MODULE$.apply(OpenTable.held(facts).relation(session), streaming));
  }
}
