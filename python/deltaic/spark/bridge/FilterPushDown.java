package deltaic.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.sources.*;
import org.apache.spark.sql.types.*;
import scala.collection.immutable.Seq;

/**
 * What Spark's Parquet reader may skip row groups and pages by. It takes the two zeros for different numbers and NaN for a
 * number that is not there, so that a column of -0.0 would have no row for `x = 0.0`, and one with NaN none for `x > 5`.
 */
final class FilterPushDown {
  private FilterPushDown() {}

  /** The filters by which no row gets lost. */
  static Seq safe(Seq filters) {
    ArrayList kept = new ArrayList();
    List all = Scala.list(filters);
    for (int i = 0; i < all.size(); i++) if (isSafe((Filter) all.get(i), false)) kept.add(all.get(i));
    return Scala.seq(kept);
  }

  /** Whether a type has fractional numbers, at any depth that filters reach. */
  static boolean concerns(DataType type) {
    if (type instanceof StructType) {
      StructField[] fields = ((StructType) type).fields();
      for (int i = 0; i < fields.length; i++) if (concerns(fields[i].dataType())) return true;
    }
    return type instanceof FloatType || type instanceof DoubleType;
  }

  private static boolean isSafe(Filter f, boolean negated) {
    if (f instanceof And) return isSafe(((And) f).left(), negated) && isSafe(((And) f).right(), negated);
    if (f instanceof Or) return isSafe(((Or) f).left(), negated) && isSafe(((Or) f).right(), negated);
    if (f instanceof Not) return isSafe(((Not) f).child(), true);
    if (f instanceof EqualTo) return isExact(((EqualTo) f).value(), negated);
    if (f instanceof EqualNullSafe) return isExact(((EqualNullSafe) f).value(), negated);
    if (f instanceof LessThan) return isExact(((LessThan) f).value(), negated);
    if (f instanceof LessThanOrEqual) return isExact(((LessThanOrEqual) f).value(), negated);
    // NaN is above every number
    if (f instanceof GreaterThan) return isExact(((GreaterThan) f).value(), true);
    if (f instanceof GreaterThanOrEqual) return isExact(((GreaterThanOrEqual) f).value(), true);
    if (f instanceof In) {
      Object[] values = ((In) f).values();
      for (int i = 0; i < values.length; i++) if (!isExact(values[i], negated)) return false;
    }
    return true;
  }

  /** Whether a comparison with this constant is of no fractional number, or of one that is alone in its place. */
  private static boolean isExact(Object value, boolean asksForNaN) {
    if (!(value instanceof Double || value instanceof Float)) return true;
    double number = ((Number) value).doubleValue();
    return !asksForNaN && number != 0 && !Double.isNaN(number);
  }
}
