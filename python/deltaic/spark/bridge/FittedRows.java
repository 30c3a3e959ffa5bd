package deltaic.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.ArrayTransform;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.LambdaFunction;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.MapFromArrays;
import org.apache.spark.sql.catalyst.expressions.MapKeys;
import org.apache.spark.sql.catalyst.expressions.MapValues;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedLambdaVariable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataType$;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import scala.Option;

/**
 * Rows by name whose values are cast to the types that the table has, as Spark stores values: by
 * `spark.sql.storeAssignmentPolicy`. What the table does not have stays as it is, and so does what no cast makes fit: the write
 * tells of that.
 */
public final class FittedRows {
  private final String policy, zone;
  /** Whether columns become wider, so that wider values stay as they are. */
  private final boolean widens;

  private FittedRows(SparkSession session, boolean widens) {
    policy = session.conf().get("spark.sql.storeAssignmentPolicy", "ANSI").toUpperCase();
    zone = session.conf().get("spark.sql.session.timeZone");
    this.widens = widens;
  }

  /** `schema` is JSON. */
  public static Dataset of(Dataset rows, String schema, boolean widens) {
    LogicalPlan query = rows.queryExecution().analyzed(),
        fitted = of(rows.sparkSession(), query, (StructType) DataType$.MODULE$.fromJson(schema), widens);
    return query == fitted ? rows : DeltaCommand.rows(rows.sparkSession(), fitted);
  }

  /** A query that is analyzed; itself where nothing is cast. */
  static LogicalPlan of(SparkSession session, LogicalPlan query, StructType table, boolean widens) {
    FittedRows fit = new FittedRows(session, widens);
    List given = Scala.list(query.output());
    ArrayList columns = new ArrayList();
    boolean same = true;
    for (int i = 0; i < given.size(); i++) {
      NamedExpression column = (NamedExpression) given.get(i);
      StructField there = field(table, column.name());
      Expression value = (Expression) column;
      if (there == null || !fit.differs(value.dataType(), there.dataType())) {
        columns.add(column);
        continue;
      }
      same = false;
      columns.add(new Alias(fit.fitted(value, there.dataType(), there.name()), column.name(), NamedExpression.newExprId(),
          Scala.none(), Scala.nothing(), Scala.none()));
    }
    return same ? query : new Project(Scala.seq(columns), query);
  }

  /** By its name in any case, or null. */
  static StructField field(StructType type, String name) {
    StructField[] fields = type.fields();
    for (int i = 0; i < fields.length; i++) {
      if (fields[i].name().equalsIgnoreCase(name)) return fields[i];
    }
    return null;
  }

  /** Whether anything in values of a type is cast. */
  private boolean differs(DataType from, DataType to) {
    if (from instanceof ArrayType && to instanceof ArrayType) {
      return differs(((ArrayType) from).elementType(), ((ArrayType) to).elementType());
    }
    if (from instanceof MapType && to instanceof MapType) {
      MapType given = (MapType) from, there = (MapType) to;
      return differs(given.keyType(), there.keyType()) || differs(given.valueType(), there.valueType());
    }
    if (from instanceof StructType && to instanceof StructType) {
      StructField[] fields = ((StructType) from).fields();
      for (int i = 0; i < fields.length; i++) {
        StructField there = field((StructType) to, fields[i].name());
        if (there != null && differs(fields[i].dataType(), there.dataType())) return true;
      }
      return false;
    }
    if (from instanceof NullType || to instanceof NullType || from.equals(to)) return false;
    if (from instanceof StringType && to instanceof StringType) return false;
    if (widens && mayWiden(to, from)) return false;
    return policy.equals("LEGACY") ? Cast$.MODULE$.canCast(from, to) : Cast$.MODULE$.canAnsiCast(from, to);
  }

  /** Whether evolution may make a type the other one; the core decides. */
  private static boolean mayWiden(DataType table, DataType rows) {
    return table instanceof NumericType && rows instanceof NumericType
            && !Cast$.MODULE$.canUpCast(rows, table)
        || table instanceof DateType && rows instanceof TimestampNTZType;
  }

  private Expression fitted(Expression value, DataType to, String name) {
    DataType from = value.dataType();
    if (!differs(from, to)) return value;
    if (from instanceof ArrayType) {
      ArrayType given = (ArrayType) from;
      return each(value, given.elementType(), given.containsNull(), ((ArrayType) to).elementType(), name);
    }
    if (from instanceof MapType) {
      MapType given = (MapType) from, there = (MapType) to;
      Expression keys = each(new MapKeys(value), given.keyType(), false, there.keyType(), name);
      return new MapFromArrays(
          keys, each(new MapValues(value), given.valueType(), given.valueContainsNull(), there.valueType(), name));
    }
    if (from instanceof StructType) return struct(value, (StructType) from, (StructType) to);
    return StoreCasts.cast(value, from, to, name, policy, zone);
  }

  private Expression each(Expression array, DataType from, boolean nullable, DataType to, String name) {
    if (!differs(from, to)) return array;
    NamedLambdaVariable one =
        new NamedLambdaVariable("element", from, nullable, NamedExpression.newExprId(), new AtomicReference());
    return new ArrayTransform(array, new LambdaFunction(fitted(one, to, name), Scala.one(one), false));
  }

  private Expression struct(Expression value, StructType from, StructType to) {
    StructField[] fields = from.fields();
    ArrayList parts = new ArrayList();
    for (int i = 0; i < fields.length; i++) {
      Expression part = new GetStructField(value, i, Option.apply(fields[i].name()));
      StructField there = field(to, fields[i].name());
      parts.add(Literal$.MODULE$.apply(fields[i].name()));
      parts.add(there == null ? part : fitted(part, there.dataType(), there.name()));
    }
    Expression made = new CreateNamedStruct(Scala.seq(parts));
    return value.nullable() ? new If(new IsNull(value), Literal$.MODULE$.create(null, made.dataType()), made) : made;
  }
}
