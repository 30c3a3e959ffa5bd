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
    // most frames that a command writes claim nothing: they are not optimized for this alone
    if (CLAIMED.in(data.queryExecution().analyzed()) == 0) return Python.write(new ArrayList());
    return Python.write(CLAIMED.read(data.queryExecution().optimizedPlan()));
  }

  /**
   * As `of`, what a batch of a stream reads of the table at this path, with the version of each scan, or null where it is a
   * source of the query. Spark has planned the batch already.
   */
  public static String ofBatch(Dataset batch, String path) {
    final String place = OpenTable.place(Committed.uriOf(path));
    Scans ofTable = new Scans() {
      boolean takes(LogicalRelation scan, OpenTable table) {
        return table.place().equals(place) && (scan.isStreaming() || !table.timeTravel && table.changeType == null);
      }
    };
    int all = ofTable.in(batch.queryExecution().analyzed());
    if (all == 0) return Python.write(new ArrayList());
    ArrayList found = ofTable.read(batch.queryExecution().optimizedPlan());
    // rows that Spark has cached are those of some version
    for (int i = found.size(); i < all; i++) found.add(Scans.described(null, null, null));
    return Python.write(found);
  }

  /** Scans of a kind. */
  private abstract static class Scans extends scala.runtime.AbstractPartialFunction {
    abstract boolean takes(LogicalRelation scan, OpenTable table);

    public boolean isDefinedAt(Object node) {
      LogFileIndex index = node instanceof LogicalRelation ? DeletionVectorRule.indexOf((LogicalRelation) node) : null;
      return index != null && takes((LogicalRelation) node, index.table);
    }

    public Object applyOrElse(Object node, Function1 otherwise) {
      return isDefinedAt(node) ? node : otherwise.apply(node);
    }

    /** How many a plan has, with those of its subqueries. */
    int in(LogicalPlan plan) {
      return plan.collectWithSubqueries(this).size();
    }

    /** What those of an optimized plan read. */
    ArrayList read(LogicalPlan plan) {
      ArrayList found = new ArrayList();
      collect(plan, found);
      List subqueries = Scala.list(plan.subqueriesAll());
      for (int i = 0; i < subqueries.size(); i++) collect((LogicalPlan) subqueries.get(i), found);
      return found;
    }

    /** The scans of a plan with the filters above each; plans within expressions are others. */
    private void collect(LogicalPlan plan, ArrayList into) {
      Option operation = PhysicalOperation$.MODULE$.unapply(plan);
      LogicalPlan under = plan;
      List filters = new ArrayList();
      if (operation.isDefined()) {
        Tuple3 parts = (Tuple3) operation.get();
        filters = Scala.list((scala.collection.Seq) parts._2());
        under = (LogicalPlan) parts._3();
      }
      if (isDefinedAt(under)) {
        LogicalRelation scan = (LogicalRelation) under;
        LogFileIndex index = DeletionVectorRule.indexOf(scan);
        String predicate = Predicates.both(Predicates.translate(filters, index.table), index.mixed);
        // a source has rows of some commits, and its batches follow from all of them
        into.add(scan.isStreaming()
            ? described(index.table.identity, null, null)
            : described(index.table.identity, predicate, Long.valueOf(index.table.version)));
        return;
      }
      List children = Scala.list(under.children());
      for (int i = 0; i < children.size(); i++) collect((LogicalPlan) children.get(i), into);
    }

    static HashMap described(String identity, String predicate, Long version) {
      HashMap scan = new HashMap();
      scan.put("identity", identity);
      scan.put("predicate", predicate);
      scan.put("version", version);
      return scan;
    }
  }

  private static final Scans CLAIMED = new Scans() {
    boolean takes(LogicalRelation scan, OpenTable table) {
      return table.claimed;
    }
  };

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
