package deltaic.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.StartsWith;
import org.apache.spark.sql.types.*;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Catalyst filters as the JSON of rust/core/src/predicate/ast.rs. What has no exact counterpart becomes `unknown`, which
 * keeps files; it is never left out of an OR or a NOT, but where all operands are unknown the whole is.
 */
final class Predicates {
  private static final int MOST_TURNS = 3;

  private final OpenTable table;
  private final boolean utc;

  private Predicates(OpenTable table) {
    this.table = table;
    String zone = SparkSession.active().conf().get("spark.sql.session.timeZone");
    this.utc = Arrays.asList(new Object[] {"UTC", "Etc/UTC", "Z", "GMT", "+00:00"}).contains(zone);
  }

  /** All filters together, or null when nothing in them is of use. */
  static String translate(List filters, OpenTable table) {
    Predicates translator = new Predicates(table);
    ArrayList parts = new ArrayList();
    for (int i = 0; i < filters.size(); i++) {
      Map part = translator.predicate((Expression) filters.get(i));
      if (!part.containsKey("unknown")) parts.add(part);
    }
    return parts.isEmpty() ? null : Python.write(tagged("and", parts));
  }

  /** Two of what `translate` gives together. */
  static String both(String left, String right) {
    if (left == null || right == null) return left == null ? right : left;
    return "{\"and\":[" + left + "," + right + "]}";
  }

  private Map predicate(Expression e) {
    if (e instanceof And) return combined("and", e, ((And) e).left(), ((And) e).right());
    if (e instanceof Or) return combined("or", e, ((Or) e).left(), ((Or) e).right());
    if (e instanceof Not) {
      Map part = predicate(((Not) e).child());
      return part.containsKey("unknown") ? unknown(e) : tagged("not", part);
    }
    if (e instanceof EqualTo) return compare("=", "=", ((EqualTo) e).left(), ((EqualTo) e).right());
    if (e instanceof EqualNullSafe) {
      return compare("<=>", "<=>", ((EqualNullSafe) e).left(), ((EqualNullSafe) e).right());
    }
    if (e instanceof LessThan) return compare("<", ">", ((LessThan) e).left(), ((LessThan) e).right());
    if (e instanceof LessThanOrEqual) {
      return compare("<=", ">=", ((LessThanOrEqual) e).left(), ((LessThanOrEqual) e).right());
    }
    if (e instanceof GreaterThan) return compare(">", "<", ((GreaterThan) e).left(), ((GreaterThan) e).right());
    if (e instanceof GreaterThanOrEqual) {
      return compare(">=", "<=", ((GreaterThanOrEqual) e).left(), ((GreaterThanOrEqual) e).right());
    }
    if (e instanceof In) return in(((In) e).value(), Scala.list(((In) e).list()), null);
    if (e instanceof InSet) return in(((InSet) e).child(), null, ((InSet) e).hset());
    if (e instanceof IsNull) return nullTest("isnull", ((IsNull) e).child(), e);
    if (e instanceof IsNotNull) return nullTest("isnotnull", ((IsNotNull) e).child(), e);
    if (e instanceof StartsWith) return startsWith((StartsWith) e);
    if (e instanceof Literal && e.dataType() instanceof BooleanType) return tagged("constant", ((Literal) e).value());
    if (e.dataType() instanceof BooleanType) {
      List column = column(e);
      if (column != null) return compared("=", column, literal(Boolean.TRUE, e.dataType()));
    }
    return unknown(e);
  }

  private Map combined(String kind, Expression whole, Expression left, Expression right) {
    Map one = predicate(left);
    Map other = predicate(right);
    if (one.containsKey("unknown") && other.containsKey("unknown")) return unknown(whole);
    return tagged(kind, Arrays.asList(new Object[] {one, other}));
  }

  private Map compare(String op, String flipped, Expression left, Expression right) {
    List column = ordered(left);
    if (column != null && right instanceof Literal) {
      Map value = literal(((Literal) right).value(), right.dataType());
      return value == null ? unknown(right) : compared(op, column, value);
    }
    column = ordered(right);
    if (column != null && left instanceof Literal) {
      Map value = literal(((Literal) left).value(), left.dataType());
      return value == null ? unknown(left) : compared(flipped, column, value);
    }
    return unknown(left);
  }

  private static Map compared(String op, List column, Map value) {
    HashMap body = new HashMap();
    body.put("op", op);
    body.put("column", column);
    body.put("value", value);
    return tagged("compare", body);
  }

  private Map in(Expression operand, List literals, scala.collection.immutable.Set set) {
    List column = ordered(operand);
    if (column == null) return unknown(operand);
    ArrayList values = new ArrayList();
    Iterator items = set == null
        ? literals.iterator()
        : scala.jdk.javaapi.CollectionConverters.asJava(set).iterator();
    while (items.hasNext()) {
      Object item = items.next();
      if (set == null) {
        if (!(item instanceof Literal)) return unknown(operand);
        item = ((Literal) item).value();
      }
      Map value = literal(item, operand.dataType());
      if (value == null) return unknown(operand);
      values.add(value);
    }
    HashMap body = new HashMap();
    body.put("column", column);
    body.put("values", values);
    return tagged("in", body);
  }

  private Map nullTest(String kind, Expression operand, Expression whole) {
    List column = column(operand);
    if (column != null) return tagged(kind, Collections.singletonMap("column", column));
    if (!(operand instanceof And || operand instanceof Or)) return unknown(whole);
    Map made = isNull(operand, MOST_TURNS);
    if (made.containsKey("unknown")) return unknown(whole);
    return kind.equals("isnull") ? made : tagged("not", made);
  }

  /**
   * Where a condition is null, exactly: Spark itself asks the operands of comparisons, but not those of AND and OR.
   *
   * @param turns how often AND and OR may follow upon each other: each turn doubles what is made.
   */
  private Map isNull(Expression e, int turns) {
    if (e instanceof Not) return isNull(((Not) e).child(), turns);
    if (e instanceof IsNull || e instanceof IsNotNull || e instanceof EqualNullSafe) return tagged("constant", Boolean.FALSE);
    if (e instanceof And || e instanceof Or) return turns == 0 ? unknown(e) : isNullOfMany(e, turns - 1);
    List column = e instanceof AttributeReference || e instanceof GetStructField ? column(e) : compared(predicate(e));
    return column == null ? unknown(e) : tagged("isnull", Collections.singletonMap("column", column));
  }

  /** AND is null where a part is, and no part is false; OR where a part is, and none is true. */
  private Map isNullOfMany(Expression e, int turns) {
    ArrayList parts = new ArrayList();
    flatten(e, e instanceof And, parts);
    ArrayList nulls = new ArrayList();
    ArrayList all = new ArrayList();
    for (int i = 0; i < parts.size(); i++) {
      Map none = isNull((Expression) parts.get(i), turns);
      if (none.containsKey("unknown")) return none;
      Map part = predicate((Expression) parts.get(i));
      nulls.add(none);
      all.add(tagged("or", Arrays.asList(new Object[] {e instanceof And ? part : tagged("not", part), none})));
    }
    all.add(tagged("or", nulls));
    return tagged("and", all);
  }

  private static void flatten(Expression e, boolean ands, List parts) {
    if (ands && e instanceof And) {
      flatten(((And) e).left(), true, parts);
      flatten(((And) e).right(), true, parts);
    } else if (!ands && e instanceof Or) {
      flatten(((Or) e).left(), false, parts);
      flatten(((Or) e).right(), false, parts);
    } else {
      parts.add(e);
    }
  }

  /** The column of a condition that is null where, and only where, that column is; else null. */
  private static List compared(Map predicate) {
    Map body = (Map) predicate.get(predicate.containsKey("compare") ? "compare" : "startswith");
    if (body == null) return null;
    Map value = (Map) body.get("value");
    return value != null && "null".equals(value.get("type")) ? null : (List) body.get("column");
  }

  private Map startsWith(StartsWith e) {
    List column = ordered(e.left());
    if (column == null || !(e.right() instanceof Literal) || ((Literal) e.right()).value() == null) return unknown(e);
    HashMap body = new HashMap();
    body.put("column", column);
    body.put("prefix", String.valueOf(((Literal) e.right()).value()));
    return tagged("startswith", body);
  }

  /** A column of the table, or a field of one, whose order the core knows; through casts that keep the order exactly. */
  private List ordered(Expression e) {
    if (e instanceof Cast && keepsOrder(((Cast) e).child().dataType(), e.dataType())) return ordered(((Cast) e).child());
    if (e.dataType() instanceof StringType && !StringType$.MODULE$.equals(e.dataType())) return null;  // collation
    List path = column(e);
    // the log's text of a partition value is cast in the session's time zone, which the core does not know
    boolean zoned = path != null && e.dataType() instanceof TimestampType && table.isPartitionColumn((String) path.get(0));
    return zoned && !utc ? null : path;
  }

  private List column(Expression e) {
    if (e instanceof AttributeReference) {
      String name = ((AttributeReference) e).name();
      if (!Arrays.asList((Object[]) table.schema.fieldNames()).contains(name)) return null;
      ArrayList path = new ArrayList();
      path.add(name);
      return path;
    }
    if (e instanceof GetStructField) {
      GetStructField get = (GetStructField) e;
      List path = column(get.child());
      if (path != null) path.add(((StructType) get.child().dataType()).fields()[get.ordinal()].name());
      return path;
    }
    return null;
  }

  private static int rank(DataType t) {
    if (t instanceof ByteType) return 1;
    if (t instanceof ShortType) return 2;
    if (t instanceof IntegerType) return 3;
    if (t instanceof LongType) return 4;
    return 0;
  }

  /** Whether every value of `from` has its exact equal in `to`. */
  private static boolean keepsOrder(DataType from, DataType to) {
    int rank = rank(from);
    if (rank > 0 && rank(to) >= rank) return true;
    if (rank > 0 && rank <= 3 && to instanceof DoubleType) return true;
    if (from instanceof FloatType && to instanceof DoubleType) return true;
    if (to instanceof DecimalType) {
      DecimalType wide = (DecimalType) to;
      int[] digits = {0, 3, 5, 10, 19};
      if (rank > 0) return wide.precision() - wide.scale() >= digits[rank];
      if (from instanceof DecimalType) {
        DecimalType narrow = (DecimalType) from;
        return wide.scale() >= narrow.scale()
            && wide.precision() - wide.scale() >= narrow.precision() - narrow.scale();
      }
    }
    return false;
  }

  /** A constant in Catalyst's internal form, or null when the core has no such constant. */
  private static Map literal(Object value, DataType type) {
    if (value == null) return Collections.singletonMap("type", "null");
    if (type instanceof BooleanType) return typed("boolean", value);
    if (rank(type) > 0) return typed("long", Long.valueOf(((Number) value).longValue()));
    if (type instanceof FloatType || type instanceof DoubleType) {
      double number = ((Number) value).doubleValue();
      boolean finite = !Double.isNaN(number) && !Double.isInfinite(number);
      String word = Double.isNaN(number) ? "NaN" : number > 0 ? "inf" : "-inf";
      return typed("double", finite ? (Object) Double.valueOf(number) : word);
    }
    if (type instanceof DecimalType) return typed("decimal", ((Decimal) value).toJavaBigDecimal().toPlainString());
    if (StringType$.MODULE$.equals(type)) return typed("string", ((UTF8String) value).toString());
    if (type instanceof DateType) return typed("date", value);
    if (type instanceof TimestampType) return typed("timestamp", value);
    if (type instanceof TimestampNTZType) return typed("timestampntz", value);
    if (type instanceof BinaryType) {
      StringBuilder hex = new StringBuilder();
      byte[] bytes = (byte[]) value;
      for (int i = 0; i < bytes.length; i++) {
        hex.append(Character.forDigit((bytes[i] >> 4) & 15, 16)).append(Character.forDigit(bytes[i] & 15, 16));
      }
      return typed("binary", hex.toString());
    }
    return null;
  }

  private static Map typed(String type, Object value) {
    HashMap literal = new HashMap();
    literal.put("type", type);
    literal.put("value", value);
    return literal;
  }

  private static Map tagged(String kind, Object body) {
    HashMap predicate = new HashMap();
    predicate.put(kind, body);
    return predicate;
  }

  private static Map unknown(Expression e) {
    return tagged("unknown", e.getClass().getSimpleName());
  }
}
