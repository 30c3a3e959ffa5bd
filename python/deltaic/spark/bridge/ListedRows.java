package deltaic.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * The rows of an INSERT with a list of columns. Spark gives the fields of their structs the names of the table's, by their places;
 * 4.3 does so in arrays and maps, too, and would swap their values in silence: there they go by names where no value is cast.
 */
final class ListedRows {
  private ListedRows() {}

  /** `depth` is that of Spark's projection: 2 below the one of a PARTITION clause with values, 1 else. */
  static LogicalPlan of(LogicalPlan query, StructType table, int depth) {
    if (!(query instanceof Project)) return query;
    Project project = (Project) query;
    LogicalPlan below = depth > 1 ? of(project.child(), table, depth - 1) : project.child();
    List columns = Scala.list(project.projectList()), given = Scala.list(below.output());
    ArrayList out = new ArrayList();
    for (int i = 0; i < columns.size(); i++) {
      Object column = columns.get(i);
      if (depth == 1 && column instanceof Alias) column = given((Alias) column, table);
      for (int k = 0; k < given.size() && column instanceof AttributeReference; k++) {
        AttributeReference one = (AttributeReference) given.get(k);
        if (one.exprId().equals(((AttributeReference) columns.get(i)).exprId())) column = one;
      }
      out.add(column);
    }
    return new Project(Scala.seq(out), below);
  }

  private static Alias given(Alias column, StructType table) {
    StructField there = FittedRows.field(table, column.name());
    if (there == null || !(column.child() instanceof Cast)) return column;
    Cast cast = (Cast) column.child();
    Expression value = (Expression) cast.child();
    DataType type = named(value.dataType(), cast.dataType());
    if (type.equals(cast.dataType()) || !InsertedRows.fits(type, there.dataType(), false)) return column;
    if (!type.equals(value.dataType())) value = new Cast(value, type, cast.timeZoneId(), cast.evalMode());
    return new Alias(value, column.name(), column.exprId(), Scala.none(), Scala.nothing(), Scala.none());
  }

  /** A type whose structs have the names of another one's fields, except those in arrays and maps. */
  private static DataType named(DataType type, DataType names) {
    if (!(type instanceof StructType) || !(names instanceof StructType)) return type;
    StructField[] own = ((StructType) type).fields(), named = ((StructType) names).fields();
    if (own.length != named.length) return type;
    StructField[] out = new StructField[own.length];
    for (int i = 0; i < own.length; i++) {
      out[i] = new StructField(named[i].name(), named(own[i].dataType(), named[i].dataType()), own[i].nullable(), own[i].metadata());
    }
    return new StructType(out);
  }
}
