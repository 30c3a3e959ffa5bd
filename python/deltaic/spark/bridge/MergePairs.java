package deltaic.spark;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.AttributeSet$;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.types.StructField;
import scala.Function1;

/**
 * Rows of a table, each beside a row of the source of a merge that the driver has: a frame is analyzed before there are
 * rows, so that only the columns that it needs are read, and gets them then. No job runs.
 */
public final class MergePairs {
  private MergePairs() {}

  /** A frame without rows, with the columns of a join of both sides: those of the table are the first. */
  public static Dataset columns(Dataset both) {
    return relation(both, both.queryExecution().analyzed().output(), Scala.none());
  }

  private static Dataset relation(
      Dataset of, scala.collection.immutable.Seq output, scala.collection.immutable.Seq rows) {
    return DeltaCommand.rows(of.sparkSession(), new LocalRelation(output, rows, false, scala.Option.empty()));
  }

  /**
   * Whether a condition by which these columns were filtered only compares both sides: `width` columns are those of the table.
   * Another one may say which of its rows can match.
   */
  public static boolean onlyCompares(Dataset filtered, int width) {
    LogicalPlan plan = filtered.queryExecution().analyzed();
    if (!(plan instanceof Filter)) return false;
    List all = Scala.list(((Filter) plan).child().output());
    AttributeSet target = set(all.subList(0, width)), source = set(all.subList(width, all.size()));
    return onlyCompares(((Filter) plan).condition(), target, source);
  }

  private static boolean onlyCompares(Expression condition, AttributeSet target, AttributeSet source) {
    List sides = Scala.list(condition.children());
    if (condition instanceof And) {
      return onlyCompares((Expression) sides.get(0), target, source) && onlyCompares((Expression) sides.get(1), target, source);
    }
    if (!(condition instanceof EqualTo) && !(condition instanceof EqualNullSafe)) return false;
    AttributeSet left = ((Expression) sides.get(0)).references(), right = ((Expression) sides.get(1)).references();
    if (left.isEmpty() || right.isEmpty()) return false;
    return left.subsetOf(target) && right.subsetOf(source) || left.subsetOf(source) && right.subsetOf(target);
  }

  private static AttributeSet set(List attributes) {
    return AttributeSet$.MODULE$.apply(Scala.seq(attributes));
  }

  /** Which of the first `width` columns a frame needs that was made of these columns, by their places. */
  public static List needed(Dataset rows, Dataset columns, int width) {
    List output = Scala.list(columns.queryExecution().analyzed().output()).subList(0, width);
    LogicalPlan plan = rows.queryExecution().analyzed();
    AttributeSet needed = plan.outputSet();
    while (plan instanceof Project || plan instanceof Filter) {
      if (plan instanceof Project) {
        AttributeSet read = set(new ArrayList());
        List values = Scala.list(((Project) plan).projectList());
        for (int i = 0; i < values.size(); i++) {
          NamedExpression value = (NamedExpression) values.get(i);
          if (needed.contains(value.toAttribute())) read = read.$plus$plus(((Expression) value).references());
        }
        needed = read;
        plan = ((Project) plan).child();
      } else {
        needed = needed.$plus$plus(((Filter) plan).condition().references());
        plan = ((Filter) plan).child();
      }
    }
    ArrayList found = new ArrayList();
    for (int i = 0; i < output.size(); i++) {
      // what else a plan may be reads all
      if (!(plan instanceof LocalRelation) || needed.contains((Attribute) output.get(i))) found.add(Integer.valueOf(i));
    }
    return found;
  }

  /**
   * The frame with rows: those of `target`, which has the needed columns, each beside the row of `source` that a number says,
   * a big-endian integer.
   */
  public static Dataset filled(
      Dataset rows, Dataset columns, Dataset target, List needed, Dataset source, byte[] numbers, int width) {
    final LocalRelation empty = (LocalRelation) columns.queryExecution().analyzed();
    InternalRow[] left = here(target), right = here(source);
    StructField[] fields = target.schema().fields();
    ByteBuffer chosen = ByteBuffer.wrap(numbers);
    ArrayList pairs = new ArrayList();
    for (int i = 0; i < left.length; i++) {
      Object[] values = new Object[width];
      for (int k = 0; k < needed.size(); k++) {
        values[((Integer) needed.get(k)).intValue()] = left[i].get(k, fields[k].dataType());
      }
      pairs.add(new JoinedRow(new GenericInternalRow(values), right[chosen.getInt()]));
    }
    ArrayList output = new ArrayList(Scala.list(empty.output()));
    for (int i = 0; i < width; i++) {
      // what is not read is null, and Spark may pass it on
      if (!needed.contains(Integer.valueOf(i))) output.set(i, ((Attribute) output.get(i)).withNullability(true));
    }
    final LocalRelation full = new LocalRelation(Scala.seq(output), Scala.seq(pairs), false, scala.Option.empty());
    LogicalPlan plan = (LogicalPlan) rows.queryExecution().analyzed().transformUp(
        new scala.runtime.AbstractPartialFunction() {
          public boolean isDefinedAt(Object node) {
            return node instanceof LocalRelation && ((LocalRelation) node).output().equals(empty.output());
          }

          public Object applyOrElse(Object node, Function1 otherwise) {
            return isDefinedAt(node) ? full : otherwise.apply(node);
          }
        });
    return DeltaCommand.rows(rows.sparkSession(), plan);
  }

  /** The rows of a frame that the driver has. */
  private static InternalRow[] here(Dataset data) {
    return (InternalRow[]) data.queryExecution().executedPlan().executeCollect();
  }

  /** Rows that the driver has without those whose value in a column, by its place, is one of some: big-endian longs. */
  public static Dataset without(Dataset rows, int place, byte[] values) {
    long[] out = new long[values.length / 8];
    ByteBuffer.wrap(values).asLongBuffer().get(out);
    Arrays.sort(out);
    ArrayList kept = new ArrayList();
    InternalRow[] all = here(rows);
    for (int i = 0; i < all.length; i++) {
      if (Arrays.binarySearch(out, all[i].getLong(place)) < 0) kept.add(all[i]);
    }
    return relation(rows, rows.queryExecution().analyzed().output(), Scala.seq(kept));
  }
}
