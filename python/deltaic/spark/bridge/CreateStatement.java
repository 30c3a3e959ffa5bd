package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ShowCreateTable;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** SHOW CREATE TABLE of a table that makes values of columns: Spark's statement, which leaves out how, and that. */
final class CreateStatement extends DeltaCommand.Parts {
  private final ShowCreateTable node;

  private CreateStatement(ShowCreateTable node) {
    this.node = node;
  }

  static DeltaCommand of(ShowCreateTable node, OpenTable table) {
    HashMap request = new HashMap();
    request.put("op", "show create table");
    request.put("path", table.path);
    return new DeltaCommand(request, new CreateStatement(node), node.output());
  }

  HashMap of(SparkSession session) {
    return new HashMap();
  }

  Object answer(HashMap request, HashMap data) {
    ResolvedTable named = (ResolvedTable) node.child();
    DeltaTable table = (DeltaTable) named.table();
    Object plain = ResolvedTable$.MODULE$.create(named.catalog(), named.identifier(), table.withoutMade());
    LogicalPlan spark = (LogicalPlan) node.withNewChildren(Scala.one(plain));
    SparkSession session = SparkSession.active();
    String text = ((Row[]) DeltaCommand.rows(session, spark).collect())[0].getString(0);
    JsonNode made = table.table.madeColumns();
    for (Iterator i = made.fieldNames(); i.hasNext(); ) {
      String name = (String) i.next();
      StructField column = table.schema().apply(name);
      String how = " " + made.get(name).asText() + (table.table.schema.apply(name).nullable() ? "" : " NOT NULL");
      text = completed(text, "\n  " + column.toDDL(), how);
    }
    StructType schema = node.schema();
    return session.createDataFrame(Arrays.asList(new Row[] {RowFactory.create(new Object[] {text})}), schema);
  }

  /** The text with more after a column, which another one or the end of the columns follows. */
  private static String completed(String text, String column, String more) {
    String[] ends = {",\n", ")\nUSING"};
    for (int i = 0; i < ends.length; i++) {
      int at = text.indexOf(column + ends[i]);
      if (at >= 0) return text.substring(0, at) + column + more + text.substring(at + column.length());
    }
    throw new IllegalStateException("SHOW CREATE TABLE: there is no column" + column + " in " + text);
  }
}
