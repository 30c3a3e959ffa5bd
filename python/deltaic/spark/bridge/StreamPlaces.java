package deltaic.spark;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.DataSource;

/**
 * The logs of schemas of a query that is about to start: below its checkpoint, and one for each source. Each Spark has the
 * classes of a streaming plan in another package: they are known by their names, and asked by reflection.
 */
public final class StreamPlaces extends Rule {
  private final SparkSession session;

  StreamPlaces(SparkSession session) {
    this.session = session;
  }

  public TreeNode apply(TreeNode plan) {
    if (plan.getClass().getSimpleName().equals("WriteToStream")) check(plan);
    return plan;
  }

  private void check(TreeNode query) {
    List places = new ArrayList();
    List leaves = Scala.list(((LogicalPlan) ask(query, "inputQuery")).collectLeaves());
    String checkpoint = (String) ask(query, "resolvedCheckpointLocation");
    for (int i = 0; i < leaves.size(); i++) {
      if (!leaves.get(i).getClass().getSimpleName().equals("StreamingRelation")) continue;
      DataSource source = (DataSource) ask(leaves.get(i), "dataSource");
      if (!source.className().equalsIgnoreCase(Python.format())
          && !source.className().equals(DeltaSource.class.getName())) continue;
      Map options = OpenTable.lowerCased(Scala.map(source.options()));
      Object location = options.get("schematrackinglocation");
      if (location == null) location = options.get("schemalocation");
      if (location == null) continue;
      HashMap place = new HashMap();
      place.put("table", options.get("path"));
      place.put("location", location);
      place.put("uri", qualified(checkpoint, (String) location));
      place.put("source", options.get("streamingsourcetrackingid"));
      places.add(place);
    }
    if (places.isEmpty()) return;
    HashMap request = new HashMap();
    request.put("op", "streamPlaces");
    request.put("checkpoint", qualified(checkpoint, checkpoint));
    request.put("places", places);
    Python.call(request, null);
  }

  /** The whole URI of a path, by the file system of the checkpoint; of one of another file system as it is. */
  private String qualified(String checkpoint, String path) {
    Configuration conf =
        ((org.apache.spark.sql.classic.SparkSession) session).sessionState().newHadoopConf();
    try {
      FileSystem files = new Path(checkpoint).getFileSystem(conf);
      return files.makeQualified(new Path(path)).toString();
    } catch (IOException e) {
      return path;
    } catch (IllegalArgumentException e) {
      return path;
    }
  }

  private static Object ask(Object of, String method) {
    try {
      return of.getClass().getMethod(method, new Class[0]).invoke(of, new Object[0]);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this Spark does not report " + method, e);
    }
  }
}
