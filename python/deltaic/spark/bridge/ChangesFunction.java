package deltaic.spark;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.TableFunctionRegistry;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DatetimeType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StringType$;
import org.apache.spark.unsafe.Platform;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractPartialFunction;

/**
 * `table_changes(table, start [, end])` and `table_changes_by_path(path, start [, end])` in SQL. A table is a path or a
 * name; start and end are versions, or times as text or TIMESTAMP. Both are included.
 */
final class ChangesFunction extends AbstractFunction1 {
  private static final String[] NAMES = new String[] {"table_changes", "table_changes_by_path"};
  private static final Set REGISTERED = Collections.newSetFromMap(new WeakHashMap());
  private final String name;

  private ChangesFunction(String name) {
    this.name = name;
  }

  /** Idempotent. By Spark's own extensions, which know how each Spark qualifies the name of a function. */
  static synchronized void register(SparkSession session) {
    TableFunctionRegistry registry =
        ((org.apache.spark.sql.classic.SparkSession) session).sessionState().tableFunctionRegistry();
    if (!REGISTERED.add(registry)) return;
    SparkSessionExtensions extensions = new SparkSessionExtensions();
    inLaterSessions(extensions);
    extensions.registerTableFunctions(registry);
  }

  static void inLaterSessions(SparkSessionExtensions extensions) {
    for (int i = 0; i < NAMES.length; i++) {
      extensions.injectTableFunction(
          new scala.Tuple3(new FunctionIdentifier(NAMES[i]), info(NAMES[i]), new ChangesFunction(NAMES[i])));
    }
  }

  private static ExpressionInfo info(String name) {
    return new ExpressionInfo(ChangesFunction.class.getName(), null, name);
  }

  public Object apply(Object given) {
    List arguments = Scala.list((Seq) given);
    if (arguments.size() < 2 || arguments.size() > 3) {
      throw Refusal.ofArgument(name, arguments.size() + " arguments; write " + name + "(table, start [, end])",
          "INCORRECT_NUMBER_OF_ARGUMENTS", new String[] {
              "failure", arguments.size() < 2 ? "not enough args" : "too many args", "functionName", name,
              "minArgs", "2", "maxArgs", "3"});
    }
    SparkSession session = SparkSession.active();
    HashMap options = new HashMap();
    options.put("readChangeFeed", "true");
    bound(options, "starting", (Expression) arguments.get(1), 2);
    if (arguments.size() == 3) bound(options, "ending", (Expression) arguments.get(2), 3);
    Expression table = (Expression) arguments.get(0);
    Object named = value(table, "table", 1);
    if (named == null || !(table.dataType() instanceof StringType)) {
      throw otherType("table name", table.dataType(), "StringType literal");
    }
    return ResolveReads.changes(session, path(session, named.toString()), options);
  }

  private void bound(HashMap options, String which, Expression argument, int position) {
    Object value = value(argument, which, position);
    if (value == null) {
      throw Refusal.ofArgument(which, "NULL, not a version or time", "DELTA_CDC_READ_NULL_RANGE_BOUNDARY", new String[0]);
    }
    DataType type = argument.dataType();
    boolean isTime = type instanceof StringType || type instanceof DatetimeType;
    if (!isTime && !(type instanceof IntegralType)) {
      throw otherType(which + " option", type, "IntegerType,LongType,StringType,TimestampType");
    }
    if (!isTime) {
      options.put(which + "Version", value.toString());
      return;
    }
    String zone = SparkSession.active().conf().get("spark.sql.session.timeZone");
    Expression text =
        new Cast(new Literal(value, type), StringType$.MODULE$, Option.apply(zone), EvalMode$.MODULE$.LEGACY());
    options.put(which + "Timestamp", text.eval(null).toString());
  }

  private Object value(Expression argument, String which, int position) {
    Expression plain = plain(argument);
    if (!plain.resolved() || !plain.foldable()) {
      throw Refusal.ofArgument(which, argument.sql() + " is not a constant", "DELTA_CDC_NON_CONSTANT_ARGUMENT", new String[] {
          "argumentName", "`" + which + "`", "pos", String.valueOf(position), "functionName", "`" + name + "`",
          "sqlExpr", argument.sql()});
    }
    return plain.eval(null);
  }

  /** With what Spark computes in the place of a function: `now() - INTERVAL 1 DAY` and `to_timestamp(…)` have no value of their own. */
  private static Expression plain(Expression argument) {
    return (Expression) argument.transformUp(new AbstractPartialFunction() {
      public boolean isDefinedAt(Object e) {
        return e instanceof RuntimeReplaceable;
      }

      public Object applyOrElse(Object e, Function1 otherwise) {
        return isDefinedAt(e) ? ((RuntimeReplaceable) e).replacement() : otherwise.apply(e);
      }
    });
  }

  private static RuntimeException otherType(String what, DataType type, String supported) {
    return Refusal.ofArgument(what, "its type is " + type.sql(), "DELTA_UNSUPPORTED_EXPRESSION",
        new String[] {"expType", type.toString(), "causedBy", what, "supportedTypes", supported});
  }

  /** Where the table is: a path is what it says, and a name is what the catalog says. */
  private String path(SparkSession session, String table) {
    if (name.endsWith("by_path") || (table.indexOf('/') >= 0 && table.indexOf('`') < 0)) return table;
    org.apache.spark.sql.internal.SessionState state =
        ((org.apache.spark.sql.classic.SparkSession) session).sessionState();
    try {
      TableIdentifier id = state.sqlParser().parseTableIdentifier(table);
      if (id.database().isDefined() && id.database().get().equals(Python.format())
          && new Path(id.table()).isAbsolute()) {
        return id.table();
      }
      CatalogTable entry = state.catalog().getTableMetadata(id);
      if (!SessionCatalog.ours(entry)) {
        String said = entry.identifier().quotedString();
        throw Refusal.ofArgument("table", said + " is no Delta table", "DELTA_TABLE_ONLY_OPERATION",
            new String[] {"tableName", said, "operation", name});
      }
      return entry.location().toString();
    } catch (Exception e) {
      // errors of Spark's own are checked here and not in Scala
      Platform.throwException(e);
      return null;
    }
  }
}
