package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.planning.PhysicalOperation$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Function1;
import scala.Option;
import scala.Tuple3;

/** What the query of a command reads of the table that the command changes. */
public final class CommandReads {
  private CommandReads() {}

  /** Whether a query, made before or with subqueries, has a scan of the newest version of the table at this URI. */
  public static boolean reads(Dataset data, String uri) {
    return !data.queryExecution().analyzed().collectWithSubqueries(scans(OpenTable.place(uri), null)).isEmpty();
  }

  /**
   * The rows of such a query whose scans of the table read one version of it, and claim that. `facts` is what the core says
   * of the version, `options` (JSON) how it was opened.
   */
  public static Dataset bind(Dataset data, String facts, String options) {
    OpenTable version = OpenTable.of("", facts, mapOf(options));
    LogicalPlan plan = data.queryExecution().analyzed();
    LogicalPlan bound = (LogicalPlan) plan.transformWithSubqueries(scans(version.place(), version));
    return Dataset$.MODULE$.ofRows((org.apache.spark.sql.classic.SparkSession) data.sparkSession(), bound);
  }

  /** The live scans of a table, which read and claim `version` where one is given. */
  private static scala.runtime.AbstractPartialFunction scans(final String place, final OpenTable version) {
    return new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        if (!PinVersions.isLive(node)) return false;
        OpenTable table = DeletionVectorRule.indexOf((LogicalRelation) node).table;
        // changes are no rows of the table
        return table.changeType == null && table.place().equals(place);
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        if (version == null) return node;
        LogicalRelation scan = (LogicalRelation) node;
        OpenTable read = DeletionVectorRule.indexOf(scan).table.claimedAt(version);
        FileLists lists = FileLists.of(((HadoopFsRelation) scan.relation()).sparkSession(), read);
        return PinVersions.over(scan, new LogFileIndex(read, lists, null, false));
      }
    };
  }

  /**
   * The scans that the query of these rows claims, as JSON: for each the identity of its relation, and the predicate by
   * which it reads, or null for all rows. The values come from the optimized plan; nothing runs.
   */
  public static String of(Dataset data) {
    ArrayList found = new ArrayList();
    // most frames that a command writes claim nothing: they are not optimized for this alone
    if (data.queryExecution().analyzed().collectWithSubqueries(CLAIMED).isEmpty()) return Python.write(found);
    LogicalPlan plan = data.queryExecution().optimizedPlan();
    collect(plan, found);
    List subqueries = Scala.list(plan.subqueriesAll());
    for (int i = 0; i < subqueries.size(); i++) collect((LogicalPlan) subqueries.get(i), found);
    return Python.write(found);
  }

  private static final scala.runtime.AbstractPartialFunction CLAIMED = new scala.runtime.AbstractPartialFunction() {
    public boolean isDefinedAt(Object node) {
      return claimed(node) != null;
    }

    public Object applyOrElse(Object node, Function1 otherwise) {
      return isDefinedAt(node) ? node : otherwise.apply(node);
    }
  };

  private static LogFileIndex claimed(Object node) {
    LogFileIndex index = node instanceof LogicalRelation ? DeletionVectorRule.indexOf((LogicalRelation) node) : null;
    return index != null && index.table.claimed ? index : null;
  }

  /** The scans of a plan with the filters above each; plans within expressions are others. */
  private static void collect(LogicalPlan plan, ArrayList into) {
    Option operation = PhysicalOperation$.MODULE$.unapply(plan);
    LogicalPlan under = plan;
    List filters = new ArrayList();
    if (operation.isDefined()) {
      Tuple3 parts = (Tuple3) operation.get();
      filters = Scala.list((scala.collection.Seq) parts._2());
      under = (LogicalPlan) parts._3();
    }
    LogFileIndex index = claimed(under);
    if (index != null) {
      HashMap scan = new HashMap();
      scan.put("identity", index.table.identity);
      scan.put("predicate", Predicates.both(Predicates.translate(filters, index.table), index.mixed));
      into.add(scan);
      return;
    }
    List children = Scala.list(under.children());
    for (int i = 0; i < children.size(); i++) collect((LogicalPlan) children.get(i), into);
  }

  private static Map mapOf(String json) {
    HashMap out = new HashMap();
    JsonNode given = Python.read(json);
    for (java.util.Iterator i = given.fieldNames(); i.hasNext(); ) {
      String name = (String) i.next();
      out.put(name, given.get(name).asText());
    }
    return out;
  }
}
