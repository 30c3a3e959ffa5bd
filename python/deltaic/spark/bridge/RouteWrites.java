package deltaic.spark;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.plans.logical.AppendData;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.OverwriteByExpression;
import org.apache.spark.sql.catalyst.plans.logical.OverwritePartitionsDynamic;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Function1;

/**
 * Sends appends and overwrites to the writer and refuses every other statement that changes one of our tables, so that
 * none of them goes around the log. A post-hoc resolution rule.
 */
public final class RouteWrites extends Rule {
  private static final String REWRITE = "read the table, compute the new rows and write them to a new table";

  public TreeNode apply(TreeNode plan) {
    return (TreeNode) ((LogicalPlan) plan).resolveOperators(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return changes(node) || BareFiles.writes(node);
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        if (BareFiles.writes(node) && bareFiles(node) == null) BareFiles.check(node);
        return changes(node) ? route((LogicalPlan) node) : otherwise.apply(node);
      }
    });
  }

  /** The index of a plain scan of ours, or null. */
  static LogFileIndex scanOf(LogicalPlan plan) {
    LogicalPlan at = plan;
    while (at instanceof SubqueryAlias || at instanceof View || CharPadding.is(at)) {
      at = (LogicalPlan) at.children().apply(0);
    }
    return at instanceof LogicalRelation ? DeletionVectorRule.indexOf((LogicalRelation) at) : null;
  }

  /** The table of ours that a statement changes, or null. */
  private static OpenTable target(Object node) {
    LogicalPlan table = null;
    if (node instanceof V2WriteCommand) table = (LogicalPlan) ((V2WriteCommand) node).table();
    if (node instanceof DeleteFromTable) table = ((DeleteFromTable) node).table();
    if (node instanceof UpdateTable) table = ((UpdateTable) node).table();
    if (node instanceof MergeIntoTable) table = ((MergeIntoTable) node).targetTable();
    while (table instanceof SubqueryAlias) table = ((SubqueryAlias) table).child();
    if (table == null) return null;
    if (ResolveReads.isOurs(table)) return ((DeltaTable) ((DataSourceV2Relation) table).table()).table;
    LogFileIndex index = scanOf(table);
    if (index == null && !(node instanceof V2WriteCommand)) index = ViewTarget.indexOf(table);
    return index == null ? null : index.table;
  }

  /** The target of a MERGE or UPDATE, resolved, where it is a table of ours or a view of one, else null. */
  static LogicalPlan resolvedTarget(SparkSession session, LogicalPlan table) {
    try {
      LogicalPlan target = DeltaCommand.rows(session, table).queryExecution().analyzed();
      return scanOf(target) != null || ViewTarget.indexOf(target) != null ? target : null;
    } catch (Exception e) {
      // the statement itself will say it
      return null;
    }
  }

  private static LogFileIndex bareFiles(Object node) {
    if (!(node instanceof InsertIntoHadoopFsRelationCommand)) return null;
    scala.Option index = ((InsertIntoHadoopFsRelationCommand) node).fileIndex();
    return index.isDefined() && index.get() instanceof LogFileIndex ? (LogFileIndex) index.get() : null;
  }

  /** The table of a CREATE or REPLACE TABLE … AS SELECT whose rows are written, or null. */
  private static NewTable staged(Object node) {
    if (!(node instanceof V2WriteCommand)) return null;
    Object table = ((V2WriteCommand) node).table();
    if (!(table instanceof DataSourceV2Relation)) return null;
    Object named = ((DataSourceV2Relation) table).table();
    return named instanceof NewTable ? (NewTable) named : null;
  }

  static boolean changes(Object node) {
    return staged(node) != null || target(node) != null || bareFiles(node) != null;
  }

  private static LogicalPlan route(LogicalPlan node) {
    if (bareFiles(node) != null) {
      throw Refusal.of("INSERT into a view of a Delta table", "INSERT INTO delta.`path`, or name the table itself",
          bareFiles(node).table.path);
    }
    NewTable made = staged(node);
    if (made != null) {
      if (!node.resolved()) return node;
      return made.write((LogicalPlan) ((V2WriteCommand) node).query(), Scala.map(optionsOf((V2WriteCommand) node)));
    }
    OpenTable table = target(node);
    if (node instanceof AppendData || node instanceof OverwriteByExpression || node instanceof OverwritePartitionsDynamic) {
      return node.resolved() ? write((V2WriteCommand) node, table) : node;
    }
    if (node instanceof DeleteFromTable || node instanceof UpdateTable || node instanceof MergeIntoTable) {
      return RowChanges.isResolved(node) ? change(node, table) : node;
    }
    throw Refusal.of(node.getClass().getSimpleName(), REWRITE, table.path);
  }

  private static void checkWhole(OpenTable table) {
    if (table.partial) throw Refusal.of("a change through the folder of a partition", "name the table itself", table.path);
  }

  private static RuntimeException old(String what, OpenTable table) {
    return Refusal.of(what, "name the table without a version", table.path, "DELTA_FAILED_SCAN_WITH_HISTORICAL_VERSION",
        new String[] {"historicalVersion", String.valueOf(table.version)});
  }

  private static LogicalPlan change(LogicalPlan node, OpenTable table) {
    checkWhole(table);
    LogicalPlan target = (LogicalPlan) node.children().apply(0);
    if (table.timeTravel) throw old("a change of an old version", table);
    boolean merges = node instanceof MergeIntoTable;
    ViewTarget.check(target, merges ? "MERGE" : node instanceof UpdateTable ? "UPDATE" : "DELETE", merges, table.path);
    if (node instanceof DeleteFromTable) return RowChanges.delete((DeleteFromTable) node, table);
    if (node instanceof UpdateTable) return RowChanges.update((UpdateTable) node, table);
    return RowChanges.merge((MergeIntoTable) node, table);
  }

  private static LogicalPlan write(V2WriteCommand node, OpenTable table) {
    if (table.timeTravel) throw old("INSERT into an old version", table);
    Map given = Scala.map(optionsOf(node));
    HashMap options = new HashMap(given);
    String mode = "overwrite";
    if (node instanceof AppendData) {
      mode = "append";
    } else if (node instanceof OverwritePartitionsDynamic) {
      put(options, "partitionOverwriteMode", "dynamic");
    } else {
      Expression replaced = ((OverwriteByExpression) node).deleteExpr();
      // Spark has read its own setting already
      boolean all = replaced.equals(Literal$.MODULE$.TrueLiteral());
      CaseInsensitiveStringMap said = new CaseInsensitiveStringMap(given);
      boolean condition = said.containsKey("replaceWhere");
      if (!all && condition) {
        throw Refusal.ofArgument("replaceWhere", "an overwrite by a condition says what is replaced: give one of them",
            "DELTA_REPLACE_WHERE_IN_OVERWRITE", new String[0]);
      }
      if (!all || PlacedRows.replaces(given)) {
        if (!condition && !PlacedRows.isMarked((LogicalPlan) node.query())) options.put("replaceWhere", text(replaced));
      } else if (!said.containsKey("partitionOverwriteMode")) {
        options.put("partitionOverwriteMode", "static");
      }
    }
    checkWhole(table);
    DeltaTable target = (DeltaTable) ((DataSourceV2Relation) node.table()).table();
    LogicalPlan rows = InsertedRows.of(node, target, given);
    if (target.evolves) put(options, "mergeSchema", "true");
    put(options, "path", table.path);
    HashMap request = new HashMap();
    request.put("op", "insert");
    request.put("path", table.path);
    request.put("mode", mode);
    request.put("options", options);
    return DeltaCommand.write(request, rows);
  }

  /** Sets an option in place of that of any case. */
  private static void put(HashMap options, String name, String value) {
    for (Iterator i = options.keySet().iterator(); i.hasNext(); ) {
      if (((String) i.next()).equalsIgnoreCase(name)) i.remove();
    }
    options.put(name, value);
  }

  private static scala.collection.Map optionsOf(V2WriteCommand node) {
    if (node instanceof AppendData) return ((AppendData) node).writeOptions();
    if (node instanceof OverwritePartitionsDynamic) return ((OverwritePartitionsDynamic) node).writeOptions();
    return ((OverwriteByExpression) node).writeOptions();
  }

  /** A condition as SQL over the plain names of the table's columns, constants computed. */
  static String text(Expression condition) {
    return ((Expression) condition.transform(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return node instanceof AttributeReference || constant(node);
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        if (node instanceof AttributeReference) return ((AttributeReference) node).withQualifier(Scala.none());
        if (!constant(node)) return otherwise.apply(node);
        Expression value = (Expression) node;
        return Literal$.MODULE$.create(value.eval(null), value.dataType());
      }

      private boolean constant(Object node) {
        return !(node instanceof Literal) && ((Expression) node).foldable();
      }
    })).sql();
  }
}
