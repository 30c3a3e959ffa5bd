package deltaic.spark;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OverwriteByExpression;
import org.apache.spark.sql.catalyst.plans.logical.OverwriteByExpression$;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias$;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Option;
import scala.Product;

/**
 * The rows of a statement that overwrites with `replaceOn` or `replaceUsing`. The query is marked before Spark gives its
 * columns the places, names and types of the table: the condition knows them as they were.
 */
public final class PlacedRows {
  private static final String NAMED = "__deltaic_named", PLACED = "__deltaic_placed";

  private PlacedRows() {}

  /** Whether the options of a write say which rows it replaces by a match. */
  static boolean replaces(Map options) {
    for (java.util.Iterator i = options.keySet().iterator(); i.hasNext(); ) {
      String name = (String) i.next();
      if (name.equalsIgnoreCase("replaceOn") || name.equalsIgnoreCase("replaceUsing")) return true;
    }
    return false;
  }

  static LogicalPlan marked(LogicalPlan query, boolean byName) {
    return SubqueryAlias$.MODULE$.apply(byName ? NAMED : PLACED, query);
  }

  static boolean isMarked(LogicalPlan query) {
    LogicalPlan given = given(query, new ArrayList());
    return hasMark(given, NAMED) || hasMark(given, PLACED);
  }

  private static boolean hasMark(LogicalPlan plan, String mark) {
    return plan instanceof SubqueryAlias && ((SubqueryAlias) plan).alias().equals(mark);
  }

  /** INSERT … REPLACE ON and USING, which Spark 4.3 has, as the write of a DataFrame with these options. */
  static OverwriteByExpression overwrite(InsertIntoStatement insert, DeltaTable table) {
    HashMap options = new HashMap();
    if (insert.table() instanceof UnresolvedRelation) {
      options.putAll(((UnresolvedRelation) insert.table()).options().asCaseSensitiveMap());
      options.remove(UnresolvedRelation.REQUIRED_WRITE_PRIVILEGES());
    }
    Product criteria = (Product) ((Option) insert.productElement(7)).get();
    if (criteria.productElement(0) instanceof Expression) {
      options.put("replaceOn", text((Expression) criteria.productElement(0)));
      Option alias = (Option) criteria.productElement(1);
      if (alias.isDefined()) options.put("targetAlias", alias.get());
    } else {
      options.put("replaceUsing", names((scala.collection.Seq) criteria.productElement(0), table));
    }
    if (Boolean.TRUE.equals(insert.productElement(8))) options.put("mergeSchema", "true");
    DataSourceV2Relation target = DataSourceV2Relation.create(table, Scala.nothing(), Scala.nothing());
    Object[] given = {target, insert.query(), Literal$.MODULE$.TrueLiteral(), Scala.immutable(options), Boolean.FALSE};
    return made(insert.byName() ? "byName" : "byPosition", given);
  }

  /** Spark gives the method another argument now and then. */
  private static OverwriteByExpression made(String how, Object[] given) {
    Method[] methods = OverwriteByExpression$.class.getMethods();
    for (int i = 0; i < methods.length; i++) {
      int count = methods[i].getParameterTypes().length;
      if (!methods[i].getName().equals(how) || count > given.length) continue;
      try {
        return (OverwriteByExpression) methods[i].invoke(OverwriteByExpression$.MODULE$, Arrays.copyOf(given, count));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }
    throw new IllegalStateException(how);
  }

  /** A condition as written in the statement. */
  private static String text(Expression condition) {
    Origin origin = condition.origin();
    if (origin.sqlText().isEmpty() || origin.startIndex().isEmpty() || origin.stopIndex().isEmpty()) return condition.sql();
    int begin = ((Integer) origin.startIndex().get()).intValue(), end = ((Integer) origin.stopIndex().get()).intValue();
    return ((String) origin.sqlText().get()).substring(begin, end + 1);
  }

  private static String names(scala.collection.Seq columns, DeltaTable table) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < columns.size(); i++) {
      String name = (String) columns.apply(i);
      if (name.indexOf(',') >= 0) {
        throw Refusal.of("REPLACE USING of a column with a comma in its name", "use REPLACE ON", table.table.path);
      }
      out.append(i == 0 ? "" : ",").append(name);
    }
    return out.toString();
  }

  /** Whether the rows of a marked query go by the places of its columns. */
  public static boolean goByPlace(Dataset data) {
    return hasMark(given(data.queryExecution().analyzed(), new ArrayList()), PLACED);
  }

  /** What is below the projections of a query, which are added to `above`. */
  private static LogicalPlan given(LogicalPlan query, ArrayList above) {
    LogicalPlan at = query;
    for (; at instanceof Project; at = ((Project) at).child()) above.add(0, at);
    return at;
  }

  /**
   * The rows of a marked query with its own columns, and behind them those that are written, by `prefix` and place. Null for
   * another query.
   */
  public static Dataset of(Dataset data, String prefix) {
    ArrayList fitted = new ArrayList();
    LogicalPlan at = given(data.queryExecution().analyzed(), fitted);
    if (!isMarked(at)) return null;
    LogicalPlan rows = ((SubqueryAlias) at).child();
    List own = Scala.list(rows.output());
    List written = own;
    for (int i = 0; i < fitted.size(); i++) {
      written = Scala.list(((Project) fitted.get(i)).projectList());
      rows = project(own, written, rows);
    }
    List last = Scala.list(rows.output()).subList(fitted.isEmpty() ? 0 : own.size(), rows.output().size());
    ArrayList numbered = new ArrayList();
    for (int i = 0; i < last.size(); i++) {
      numbered.add(new Alias((Expression) last.get(i), prefix + i, NamedExpression.newExprId(), Scala.none(),
          Scala.nothing(), Scala.none()));
    }
    return Dataset$.MODULE$.ofRows(
        (org.apache.spark.sql.classic.SparkSession) data.sparkSession(), project(own, numbered, rows));
  }

  private static LogicalPlan project(List first, List then, LogicalPlan rows) {
    ArrayList columns = new ArrayList(first);
    columns.addAll(then);
    return new Project(Scala.seq(columns), rows);
  }
}
