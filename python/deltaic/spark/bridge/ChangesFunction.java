package deltaic.spark;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.TableFunctionRegistry;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.StringType$;
import org.apache.spark.unsafe.Platform;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

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
      throw Refusal.of(name + " with " + arguments.size() + " arguments", name + "(table, start [, end])", "");
    }
    SparkSession session = SparkSession.active();
    HashMap options = new HashMap();
    options.put("readChangeFeed", "true");
    bound(options, "starting", (Expression) arguments.get(1));
    if (arguments.size() == 3) bound(options, "ending", (Expression) arguments.get(2));
    Object table = value((Expression) arguments.get(0));
    if (table == null) throw Refusal.of(name + " of NULL", "give the table as text", "");
    return ResolveReads.changes(session, path(session, table.toString()), options);
  }

  private void bound(HashMap options, String which, Expression argument) {
    Object value = value(argument);
    if (value == null) return;
    if (argument.dataType() instanceof IntegralType) {
      options.put(which + "Version", value.toString());
      return;
    }
    String zone = SparkSession.active().conf().get("spark.sql.session.timeZone");
    Expression text = new Cast(argument, StringType$.MODULE$, Option.apply(zone), EvalMode$.MODULE$.LEGACY());
    options.put(which + "Timestamp", text.eval(null).toString());
  }

  private Object value(Expression argument) {
    if (!argument.resolved() || !argument.foldable()) {
      throw Refusal.of(name + " with " + argument.sql(), "arguments are constants", "");
    }
    return argument.eval(null);
  }

  /** Where the table is: a path is what it says, and a name is what the catalog says. */
  private String path(SparkSession session, String table) {
    if (name.endsWith("by_path") || (table.indexOf('/') >= 0 && table.indexOf('`') < 0)) return table;
    org.apache.spark.sql.internal.SessionState state =
        ((org.apache.spark.sql.classic.SparkSession) session).sessionState();
    try {
      TableIdentifier id = state.sqlParser().parseTableIdentifier(table);
      if (id.database().isDefined() && id.database().get().equals(Python.format())) return id.table();
      return state.catalog().getTableMetadata(id).location().toString();
    } catch (Exception e) {
      // errors of Spark's own are checked here and not in Scala
      Platform.throwException(e);
      return null;
    }
  }
}
