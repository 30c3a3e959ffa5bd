package deltaic.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.objects.AssertNotNull;
import org.apache.spark.sql.catalyst.plans.logical.Assignment;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.InsertAction;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeAction;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UpdateAction;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.types.LongType$;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.runtime.AbstractPartialFunction;

/** DELETE, UPDATE and MERGE as commands: conditions, values and the source go to Python as Columns and a DataFrame. */
final class RowChanges {
  private static final String TARGET = "__deltaic_target";
  private static final String SOURCE = "__deltaic_source";

  private final HashMap request;
  private final ArrayList expressions = new ArrayList();
  private final ColumnNames names = new ColumnNames();
  private LogicalPlan source;
  private List sourceNames;

  private RowChanges(String op, OpenTable table) {
    request = table.request(op);
    request.put("path", table.path);
  }

  static LogicalPlan delete(DeleteFromTable node, OpenTable table) {
    RowChanges out = new RowChanges("delete", table);
    out.request.put("condition", out.add(node.condition()));
    out.ofOne(node.table());
    return out.command(new String[] {"num_affected_rows"});
  }

  static LogicalPlan update(UpdateTable node, OpenTable table) {
    RowChanges out = new RowChanges("update", table);
    out.request.put("condition", out.add(node.condition()));
    out.request.put("set", out.add(node.assignments()));
    out.ofOne(node.table());
    return out.command(new String[] {"num_affected_rows"});
  }

  static LogicalPlan merge(MergeIntoTable node, OpenTable table) {
    RowChanges out = new RowChanges("merge", table);
    out.request.put("condition", out.add(node.mergeCondition()));
    ArrayList clauses = new ArrayList();
    out.add(clauses, "whenMatched", node.matchedActions());
    out.add(clauses, "whenNotMatched", node.notMatchedActions());
    out.add(clauses, "whenNotMatchedBySource", node.notMatchedBySourceActions());
    out.request.put("clauses", clauses);
    out.request.put("evolves", Boolean.valueOf(node.withSchemaEvolution()));
    out.ofTwo(node.targetTable(), node.sourceTable());
    return out.command(
        new String[] {"num_affected_rows", "num_updated_rows", "num_deleted_rows", "num_inserted_rows"});
  }

  private Integer add(Expression e) {
    expressions.add(StatementVariables.valued(e));
    return Integer.valueOf(expressions.size() - 1);
  }

  private Integer add(scala.Option e) {
    return e.isDefined() ? add((Expression) e.get()) : null;
  }

  private List add(scala.collection.Seq assignments) {
    ArrayList out = new ArrayList();
    List all = Scala.list(assignments);
    for (int i = 0; i < all.size(); i++) {
      Assignment a = (Assignment) all.get(i);
      HashMap one = new HashMap();
      List path = MergeKeys.pathOf(a.key());
      if (path == null) path = ColumnNames.pathOf(a.key());
      if (path == null) {
        throw Refusal.ofArgument("set", a.key().sql() + " is not a column or a field of a struct: set the column around it",
            "DELTA_UNSUPPORTED_NESTED_FIELD_IN_UPDATE", new String[] {"optionalPrefixMessage", ""});
      }
      one.put("column", path);
      one.put("value", add(given(a.value())));
      out.add(one);
    }
    return out;
  }

  /**
   * The value as it was given: Spark casts whatever the session says, structs by the position of their fields, and refuses null
   * before the table does.
   */
  private static Expression given(Expression value) {
    Expression at = value;
    while (isInserted(at) || at instanceof AssertNotNull) at = (Expression) at.children().apply(0);
    return at;
  }

  private static boolean isInserted(Object value) {
    return value instanceof Cast && ((Cast) value).getTagValue(Cast$.MODULE$.BY_TABLE_INSERTION()).isDefined();
  }

  /** Whether a statement is resolved, except for casts of values that Spark would not make: the table may accept them. */
  static boolean isResolved(LogicalPlan node) {
    if (node.resolved()) return true;
    if (!node.childrenResolved()) return false;
    List all = Scala.list(node.expressions());
    for (int i = 0; i < all.size(); i++) {
      Expression given = (Expression) ((Expression) all.get(i)).transformUp(new AbstractPartialFunction() {
        public boolean isDefinedAt(Object e) {
          return isInserted(e);
        }

        public Object applyOrElse(Object e, Function1 otherwise) {
          return isDefinedAt(e) ? ((Cast) e).child() : otherwise.apply(e);
        }
      });
      if (!given.resolved()) return false;
    }
    return true;
  }

  private void add(List clauses, String when, scala.collection.Seq actions) {
    List all = Scala.list(actions);
    for (int i = 0; i < all.size(); i++) {
      MergeAction action = (MergeAction) all.get(i);
      HashMap clause = new HashMap();
      clause.put("when", when);
      clause.put("condition", add(action.condition()));
      clause.put("action", "delete");
      scala.collection.Seq set = null;
      if (action instanceof UpdateAction) {
        clause.put("action", "update");
        set = ((UpdateAction) action).assignments();
      }
      if (action instanceof InsertAction) {
        clause.put("action", "insert");
        set = ((InsertAction) action).assignments();
      }
      // KeepStars made those that set nothing out of stars
      if (set != null && !set.isEmpty()) clause.put("set", add(set));
      clauses.add(clause);
    }
  }

  private boolean hasSubquery() {
    for (int i = 0; i < expressions.size(); i++) {
      if (ColumnNames.hasSubquery((Expression) expressions.get(i))) return true;
    }
    return false;
  }

  private void ofOne(LogicalPlan target) {
    // a subquery may have columns, or a table, of the same name
    request.put("alias", hasSubquery() ? TARGET : null);
    names.add(target, namesOf(target), null, TARGET);
  }

  private void ofTwo(LogicalPlan target, LogicalPlan given) {
    String theirs = aliasOf(given);
    String ours = aliasOf(target);
    boolean clear = ours != null && theirs != null && !ours.equalsIgnoreCase(theirs) && !hasSubquery();
    if (!clear) {
      ours = TARGET;
      theirs = SOURCE;
    }
    source = given;
    sourceNames = distinct(namesOf(given));
    request.put("alias", ours);
    request.put("sourceAlias", theirs);
    names.add(target, namesOf(target), ours, ours);
    names.add(given, sourceNames, theirs, theirs);
  }

  private static String aliasOf(LogicalPlan plan) {
    return plan instanceof SubqueryAlias ? ((SubqueryAlias) plan).alias() : null;
  }

  private static List namesOf(LogicalPlan plan) {
    ArrayList out = new ArrayList();
    List columns = Scala.list(plan.output());
    for (int i = 0; i < columns.size(); i++) out.add(((Attribute) columns.get(i)).name());
    return out;
  }

  private static List distinct(List names) {
    HashSet seen = new HashSet();
    ArrayList out = new ArrayList();
    for (int i = 0; i < names.size(); i++) {
      String name = (String) names.get(i);
      if (!seen.add(name.toLowerCase(Locale.ROOT))) name = SOURCE + "_" + i;
      out.add(name);
    }
    return out;
  }

  private LogicalPlan command(String[] counts) {
    StructType schema = new StructType();
    for (int i = 0; i < counts.length; i++) schema = schema.add(counts[i], LongType$.MODULE$);
    final RowChanges self = this;
    return DeltaCommand.of(request, new DeltaCommand.Parts() {
      HashMap of(SparkSession session) {
        ArrayList columns = new ArrayList();
        for (int i = 0; i < self.expressions.size(); i++) {
          columns.add(self.names.column((Expression) self.expressions.get(i)));
        }
        HashMap out = new HashMap();
        out.put("columns", columns);
        if (self.source != null) {
          Dataset rows = DeltaCommand.rows(session, self.source);
          out.put("source", rows.toDF(Scala.seq(self.sourceNames)).as((String) self.request.get("sourceAlias")));
        }
        return out;
      }

      LogicalPlan plan() {
        return self.source;
      }
    }, schema);
  }
}
