package deltaic.spark;

import java.util.HashMap;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.CommonExpressionDef;
import org.apache.spark.sql.catalyst.expressions.CommonExpressionRef;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.Remainder;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.expressions.With;
import org.apache.spark.sql.types.*;

/**
 * Conditions that mean the same to the core as to Spark whatever the settings of the session: comparisons of whole
 * numbers, texts in their binary order, dates and truths, and remainders by a number. The core finds their rows itself.
 */
public final class PlainConditions {
  /** Why a condition is not one of these. */
  private static final class NotPlain extends RuntimeException {}

  private final StructType schema;
  /** What several parts of a condition share, by its number. */
  private final HashMap shared = new HashMap();

  private PlainConditions(StructType schema) {
    this.schema = schema;
  }

  /** A resolved condition on the columns of a table as SQL for the core, or null where it may mean something else. */
  public static String sql(Expression condition, String schema) {
    try {
      return new PlainConditions((StructType) DataType.fromJson(schema)).truth(condition);
    } catch (NotPlain e) {
      return null;
    }
  }

  private String truth(Expression e) {
    if (e instanceof And) return "(" + truth(((And) e).left()) + " AND " + truth(((And) e).right()) + ")";
    if (e instanceof Or) return "(" + truth(((Or) e).left()) + " OR " + truth(((Or) e).right()) + ")";
    if (e instanceof Not) return "(NOT " + truth(((Not) e).child()) + ")";
    if (e instanceof IsNull) return "(" + value((Expression) ((IsNull) e).child()) + " IS NULL)";
    if (e instanceof IsNotNull) return "(" + value((Expression) ((IsNotNull) e).child()) + " IS NOT NULL)";
    if (e instanceof In) return in((In) e);
    if (e instanceof BinaryComparison) {
      BinaryComparison c = (BinaryComparison) e;
      return "(" + value((Expression) c.left()) + " " + c.symbol() + " " + value((Expression) c.right()) + ")";
    }
    // BETWEEN
    if (e instanceof RuntimeReplaceable) return truth(((RuntimeReplaceable) e).replacement());
    if (e instanceof With) {
      for (Iterator i = Scala.list(((With) e).defs()).iterator(); i.hasNext(); ) {
        CommonExpressionDef shared = (CommonExpressionDef) i.next();
        this.shared.put(shared.id(), value((Expression) shared.child()));
      }
      return truth(((With) e).child());
    }
    if (e.dataType() instanceof BooleanType) return value(e);
    throw new NotPlain();
  }

  private String in(In e) {
    StringBuilder out = new StringBuilder("(").append(value(e.value())).append(" IN (");
    for (Iterator i = Scala.list(e.list()).iterator(); i.hasNext(); ) {
      Expression item = (Expression) i.next();
      if (constant(item) == null) throw new NotPlain();
      out.append(value(item)).append(i.hasNext() ? ", " : "))");
    }
    return out.toString();
  }

  /** A column, a constant, or a remainder. Whole numbers stay as they are in wider types, so that casts are left out. */
  private String value(Expression e) {
    Object constant = constant(e);
    if (constant != null) return literal(constant, e.dataType());
    if (widens(e)) return value(((Cast) e).child());
    if (e instanceof Remainder && isWhole(e.dataType())) {
      Object by = constant(((Remainder) e).right());
      if (!(by instanceof Number) || ((Number) by).longValue() == 0) throw new NotPlain();
      return "(" + value(((Remainder) e).left()) + " % " + value(((Remainder) e).right()) + ")";
    }
    if (e instanceof CommonExpressionRef && shared.containsKey(((CommonExpressionRef) e).id())) {
      return (String) shared.get(((CommonExpressionRef) e).id());
    }
    if (e instanceof AttributeReference) return column((AttributeReference) e);
    throw new NotPlain();
  }

  private String column(AttributeReference e) {
    StructField[] fields = schema.fields();
    for (int i = 0; i < fields.length; i++) {
      // what is CHAR or VARCHAR is padded when it is read
      boolean padded = fields[i].metadata().contains("__CHAR_VARCHAR_TYPE_STRING");
      if (fields[i].name().equals(e.name()) && fields[i].dataType().equals(e.dataType()) && !padded
          && isPlain(e.dataType()) && e.name().indexOf('`') < 0) {
        return "`" + e.name() + "`";
      }
    }
    throw new NotPlain();
  }

  /** The value of a constant that is not null, also in a wider type than it was written in; else null. */
  private static Object constant(Expression e) {
    if (e instanceof Literal) return ((Literal) e).value();
    return widens(e) ? constant(((Cast) e).child()) : null;
  }

  /** Whether it takes whole numbers to a type that has them all. */
  private static boolean widens(Expression e) {
    return e instanceof Cast && isWhole(e.dataType()) && isWhole(((Cast) e).child().dataType())
        && e.dataType().defaultSize() >= ((Cast) e).child().dataType().defaultSize();
  }

  private static String literal(Object value, DataType type) {
    if (!isPlain(type)) throw new NotPlain();
    if (type instanceof BooleanType) return value.toString();
    if (isWhole(type)) {
      long number = ((Number) value).longValue();
      if (number == Long.MIN_VALUE) throw new NotPlain();
      return number < 0 ? "(-" + -number + "L)" : number + "L";
    }
    String text = type instanceof DateType
        ? java.time.LocalDate.ofEpochDay(((Number) value).longValue()).toString()
        : value.toString();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\'' || c == '\\' || c < ' ') throw new NotPlain();
    }
    boolean usual = text.length() == 10 && text.charAt(4) == '-';
    if (type instanceof DateType && !usual) throw new NotPlain();
    return (type instanceof DateType ? "DATE '" : "'") + text + "'";
  }

  private static boolean isWhole(DataType type) {
    return type instanceof ByteType || type instanceof ShortType || type instanceof IntegerType
        || type instanceof LongType;
  }

  private static boolean isPlain(DataType type) {
    return isWhole(type) || type instanceof BooleanType || type instanceof DateType
        || StringType$.MODULE$.equals(type);
  }
}
