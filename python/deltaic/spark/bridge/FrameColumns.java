package deltaic.spark;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.classic.SparkSession;

/**
 * The columns of the frames that one `DeltaTable` gave. Operations read the table again, with columns of other ids: a
 * Column of such a frame is taken back to its name.
 */
public final class FrameColumns {
  /** Names by expression id. */
  private final HashMap names = new HashMap();
  private final SparkSession session;
  private Dataset last;

  public FrameColumns(org.apache.spark.sql.SparkSession session) {
    this.session = (SparkSession) session;
  }

  /** The rows of a fresh frame, with the ids of the last one where both have the same columns. */
  public synchronized Dataset frame(Dataset fresh) {
    if (last != null && last.schema().equals(fresh.schema())) {
      return Dataset$.MODULE$.ofRows(session, last.queryExecution().analyzed());
    }
    List columns = columns(fresh);
    for (int i = 0; i < columns.size(); i++) {
      names.put(((Attribute) columns.get(i)).exprId(), ((Attribute) columns.get(i)).name());
    }
    last = fresh;
    return fresh;
  }

  /**
   * A Column in which those of the frames stand by their names under `alias`, which may be null.
   *
   * One that the source (or null) has by the same id may be of either side: it stands by its name as it was, and Spark
   * finds it ambiguous where both sides are seen.
   */
  public synchronized Column bound(Column given, String alias, Dataset source) {
    Expression e = session.expression(given);
    if (!hasAny(e)) return given;
    HashSet ofSource = new HashSet();
    List columns = source == null ? new java.util.ArrayList() : columns(source);
    for (int i = 0; i < columns.size(); i++) ofSource.add(((Attribute) columns.get(i)).exprId());
    ColumnNames bound = new ColumnNames();
    for (Iterator i = names.entrySet().iterator(); i.hasNext(); ) {
      Map.Entry column = (Map.Entry) i.next();
      if (ofSource.contains(column.getKey())) bound.addAsItStands(column.getKey());
      else bound.add(column.getKey(), (String) column.getValue(), alias);
    }
    return ExpressionUtils.column(bound.nameless(e));
  }

  private boolean hasAny(Expression e) {
    if (e instanceof AttributeReference) return names.containsKey(((AttributeReference) e).exprId());
    List children = Scala.list(e.children());
    for (int i = 0; i < children.size(); i++) if (hasAny((Expression) children.get(i))) return true;
    return false;
  }

  private static List columns(Dataset data) {
    return Scala.list(data.queryExecution().analyzed().output());
  }
}
