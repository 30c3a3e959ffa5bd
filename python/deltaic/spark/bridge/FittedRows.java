package deltaic.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.TypeCoercion$;
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
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataType$;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import scala.Option;

/**
 * Rows by name, or by place, whose values are cast to the types that the table has, as Spark stores values: by
 * `spark.sql.storeAssignmentPolicy`. What the table does not have stays as it is, and so does what no cast makes fit: the write
 * tells of that.
 */
public final class FittedRows {
  private final String policy, zone;
  /** Whether columns become wider, so that wider values stay as they are. */
  private final boolean widens;
  /** Whether values are cast only where Spark casts the arguments of a function: a flag is no number, and no text a flag. */
  private final boolean implicitly;
  /** The table where fields of structs go by place; null where they go by name. */
  private final DeltaTable placed;

  private FittedRows(SparkSession session, boolean widens, boolean implicitly, DeltaTable placed) {
    policy = session.conf().get("spark.sql.storeAssignmentPolicy", "ANSI").toUpperCase();
    zone = session.conf().get("spark.sql.session.timeZone");
    this.widens = widens;
    this.implicitly = implicitly;
    this.placed = placed;
  }

  /** The rows of a stream, which are cast implicitly; `schema` is JSON. */
  public static Dataset ofStream(Dataset rows, String schema, boolean widens) {
    FittedRows fit = new FittedRows(rows.sparkSession(), widens, true, null);
    LogicalPlan query = rows.queryExecution().analyzed(),
        fitted = fit.fitted(query, (StructType) DataType$.MODULE$.fromJson(schema));
    return query == fitted ? rows : DeltaCommand.rows(rows.sparkSession(), fitted);
  }

  /** A query that is analyzed; itself where nothing is cast. */
  static LogicalPlan of(SparkSession session, LogicalPlan query, StructType table, boolean widens) {
    return new FittedRows(session, widens, false, null).fitted(query, table);
  }

  private LogicalPlan fitted(LogicalPlan query, StructType table) {
    List given = Scala.list(query.output());
    ArrayList columns = new ArrayList();
    boolean same = true;
    for (int i = 0; i < given.size(); i++) {
      NamedExpression column = (NamedExpression) given.get(i);
      StructField there = field(table, column.name());
      Expression value = (Expression) column;
      if (there == null || !differs(value.dataType(), there.dataType())) {
        columns.add(column);
        continue;
      }
      same = false;
      columns.add(new Alias(fitted(value, there.dataType(), there.name()), column.name(), NamedExpression.newExprId(),
          Scala.none(), Scala.nothing(), Scala.none()));
    }
    return same ? query : new Project(Scala.seq(columns), query);
  }

  /**
   * A query that is analyzed, whose columns and fields of structs go to those of a table by their places. More columns and
   * fields stay.
   */
  static LogicalPlan byPlace(SparkSession session, LogicalPlan query, DeltaTable table, boolean widens) {
    FittedRows fit = new FittedRows(session, widens, false, table);
    List given = Scala.list(query.output());
    StructField[] fields = table.table.schema.fields();
    ArrayList columns = new ArrayList();
    for (int i = 0; i < given.size(); i++) {
      Expression value = (Expression) given.get(i);
      if (i < fields.length) {
        value = new Alias(fit.fitted(value, fields[i].dataType(), fields[i].name()), fields[i].name(),
            NamedExpression.newExprId(), Scala.none(), Scala.nothing(), Scala.none());
      }
      columns.add(value);
    }
    return new Project(Scala.seq(columns), query);
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
    if (from instanceof StructType && to instanceof StructType) return differs((StructType) from, (StructType) to);
    if (from instanceof NullType || to instanceof NullType || from.equals(to)) return false;
    if (from instanceof StringType && to instanceof StringType) return false;
    if (widens && widens(to, from)) return false;
    if (placed != null) return true;
    if (implicitly && TypeCoercion$.MODULE$.implicitCast(Literal$.MODULE$.create(null, from), to).isEmpty()) return false;
    return policy.equals("LEGACY") ? Cast$.MODULE$.canCast(from, to) : Cast$.MODULE$.canAnsiCast(from, to);
  }

  private boolean differs(StructType from, StructType to) {
    StructField[] fields = from.fields();
    if (placed != null && fields.length < to.fields().length) return true;
    for (int i = 0; i < fields.length; i++) {
      StructField there = target(fields[i], i, to);
      if (there == null) continue;
      if (placed != null && !there.name().equals(fields[i].name())) return true;
      if (differs(fields[i].dataType(), there.dataType())) return true;
    }
    return false;
  }

  /** The field to which one is assigned, or null. */
  private StructField target(StructField field, int place, StructType to) {
    if (placed == null) return field(to, field.name());
    return place < to.fields().length ? to.fields()[place] : null;
  }

  /** Whether a column may get a wider type: the changes of the protocol, "Type Widening". */
  static boolean widens(DataType from, DataType to) {
    int given = rank(from), wider = rank(to);
    if (given > 0 && wider > 0) return given < wider;
    if (to instanceof DecimalType) {
      DecimalType there = (DecimalType) to;
      if (from instanceof DecimalType) {
        DecimalType here = (DecimalType) from;
        return !from.equals(to) && there.scale() >= here.scale()
            && there.precision() - there.scale() >= here.precision() - here.scale();
      }
      return given > 0 && there.precision() - there.scale() >= (given < 4 ? 10 : 20);
    }
    if (to instanceof DoubleType) return given > 0 && given < 4 || from instanceof FloatType;
    return from instanceof DateType && to instanceof TimestampNTZType;
  }

  private static int rank(DataType type) {
    if (type instanceof ByteType) return 1;
    if (type instanceof ShortType) return 2;
    if (type instanceof IntegerType) return 3;
    return type instanceof LongType ? 4 : 0;
  }

  private Expression fitted(Expression value, DataType to, String name) {
    DataType from = value.dataType();
    if (!differs(from, to)) return value;
    if (from instanceof ArrayType && to instanceof ArrayType) {
      ArrayType given = (ArrayType) from;
      return each(value, given.elementType(), given.containsNull(), ((ArrayType) to).elementType(), name);
    }
    if (from instanceof MapType && to instanceof MapType) {
      MapType given = (MapType) from, there = (MapType) to;
      Expression keys = each(new MapKeys(value), given.keyType(), false, there.keyType(), name);
      return new MapFromArrays(
          keys, each(new MapValues(value), given.valueType(), given.valueContainsNull(), there.valueType(), name));
    }
    if (from instanceof StructType && to instanceof StructType) return struct(value, (StructType) from, (StructType) to, name);
    return StoreCasts.cast(value, from, to, name, policy, zone);
  }

  private Expression each(Expression array, DataType from, boolean nullable, DataType to, String name) {
    if (!differs(from, to)) return array;
    NamedLambdaVariable one =
        new NamedLambdaVariable("element", from, nullable, NamedExpression.newExprId(), new AtomicReference());
    return new ArrayTransform(array, new LambdaFunction(fitted(one, to, name), Scala.one(one), false));
  }

  private Expression struct(Expression value, StructType from, StructType to, String name) {
    StructField[] fields = from.fields();
    if (placed != null && fields.length < to.fields().length) {
      throw Refusal.ofFewRows(placed, "not enough nested fields in " + name, to.fields().length, fields.length);
    }
    ArrayList parts = new ArrayList();
    for (int i = 0; i < fields.length; i++) {
      Expression part = new GetStructField(value, i, Option.apply(fields[i].name()));
      StructField there = target(fields[i], i, to);
      parts.add(Literal$.MODULE$.apply(placed == null || there == null ? fields[i].name() : there.name()));
      parts.add(there == null ? part : fitted(part, there.dataType(), there.name()));
    }
    Expression made = new CreateNamedStruct(Scala.seq(parts));
    return value.nullable() ? new If(new IsNull(value), Literal$.MODULE$.create(null, made.dataType()), made) : made;
  }
}
