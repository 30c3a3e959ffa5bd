package deltaic.spark;

import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.CheckOverflowInTableInsert;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UpCast;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/** Casts of values to the types of columns as `spark.sql.storeAssignmentPolicy` asks for them. */
public final class StoreCasts {
  private StoreCasts() {}

  /** The value, of type `from`, as one of type `to` (both JSON), by a policy; errors name the column. */
  public static Column cast(Column value, String from, String to, String column, String policy, String timeZone) {
    Expression given = ExpressionUtils.expression(value);
    return ExpressionUtils.column(cast(given, DataType.fromJson(from), DataType.fromJson(to), column, policy, timeZone));
  }

  static Expression cast(Expression value, DataType from, DataType to, String column, String policy, String timeZone) {
    if (policy.equals("STRICT")) return new UpCast(value, to, Scala.none());
    Option zone = Option.apply(timeZone);
    if (policy.equals("LEGACY")) return new Cast(value, to, zone, EvalMode$.MODULE$.LEGACY());
    Expression cast = new Cast(value, to, zone, EvalMode$.MODULE$.ANSI());
    if (!hasNumbers(to) || Cast$.MODULE$.canUpCast(from, to)) return cast;
    return new CheckOverflowInTableInsert(cast, column);
  }

  private static boolean hasNumbers(DataType type) {
    if (type instanceof ArrayType) return hasNumbers(((ArrayType) type).elementType());
    if (type instanceof MapType) return hasNumbers(((MapType) type).keyType()) || hasNumbers(((MapType) type).valueType());
    if (!(type instanceof StructType)) return type instanceof IntegralType || type instanceof DecimalType;
    StructField[] fields = ((StructType) type).fields();
    for (int i = 0; i < fields.length; i++) if (hasNumbers(fields[i].dataType())) return true;
    return false;
  }
}
