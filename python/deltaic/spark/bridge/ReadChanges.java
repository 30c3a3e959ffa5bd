package deltaic.spark;

import java.time.Instant;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.unsafe.Platform;
import scala.Function1;
import scala.Option;

/**
 * `spark.read.changes(name)` and `FROM name CHANGES …` of Spark 4.2 and later, before Spark asks the catalog for what it
 * calls a changelog. Classes that earlier ones lack are asked by reflection.
 */
public final class ReadChanges extends Rule {
  private static final String[] SAID = new String[] {"starting", "ending", "deduplicationmode", "computeupdates"};
  private final SparkSession session;

  ReadChanges(SparkSession session) {
    this.session = session;
  }

  public TreeNode apply(TreeNode plan) {
    return (TreeNode) ((LogicalPlan) plan).resolveOperators(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return node.getClass().getSimpleName().equals("RelationChanges");
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        Object found = read(node);
        return found == null ? node : found;
      }
    });
  }

  /** The changes, or null where the table is not ours. */
  private LogicalPlan read(Object node) {
    Object relation = ask(node, "relation");
    if (!(relation instanceof UnresolvedRelation) || ((UnresolvedRelation) relation).isStreaming()) return null;
    UnresolvedRelation named = (UnresolvedRelation) relation;
    String path = path(Scala.list(named.multipartIdentifier()));
    if (path == null) return null;
    Object asked = ask(node, "changelogContext");
    if (ask(asked, "deduplicationMode").toString().equals("NET_CHANGES")) {
      throw Refusal.of("deduplicationMode netChanges", "leave it out, and take the last change of each row", path);
    }
    HashMap options = new HashMap();
    for (Iterator i = named.options().asCaseSensitiveMap().entrySet().iterator(); i.hasNext(); ) {
      Map.Entry given = (Map.Entry) i.next();
      if (!isSaid((String) given.getKey())) options.put(given.getKey(), given.getValue());
    }
    options.put("readChangeFeed", "true");
    bounds(options, ask(asked, "range"));
    return ResolveReads.changes(session, path, options);
  }

  private static boolean isSaid(String key) {
    for (int i = 0; i < SAID.length; i++) if (key.toLowerCase(Locale.ROOT).startsWith(SAID[i])) return true;
    return false;
  }

  /** Both bounds of ours are included. A range without a beginning is refused where options are read. */
  private static void bounds(HashMap options, Object range) {
    String kind = range.getClass().getSimpleName();
    if (kind.equals("UnboundedRange")) return;
    long first = ((Boolean) ask(range, "startingBoundInclusive")).booleanValue() ? 0L : 1L;
    long last = ((Boolean) ask(range, "endingBoundInclusive")).booleanValue() ? 0L : 1L;
    if (kind.equals("VersionRange")) {
      options.put("startingVersion", moved((String) ask(range, "startingVersion"), first));
      Optional end = (Optional) ask(range, "endingVersion");
      if (end.isPresent()) options.put("endingVersion", moved((String) end.get(), -last));
      return;
    }
    // commits have times of whole milliseconds
    long start = ((Long) ask(range, "startingTimestamp")).longValue();
    options.put("startingTimestamp", time(Math.floorDiv(start - 1L + first, 1000L) + 1L));
    Optional end = (Optional) ask(range, "endingTimestamp");
    if (end.isPresent()) {
      options.put("endingTimestamp", time(Math.floorDiv(((Long) end.get()).longValue() - last, 1000L)));
    }
  }

  /** A version as it is, where it is one to be included: what is not a number is reported with the option. */
  private static String moved(String version, long by) {
    return by == 0L ? version : String.valueOf(Long.parseLong(version.trim()) + by);
  }

  private static String time(long millis) {
    return Instant.ofEpochMilli(millis).toString();
  }

  /** Where a table of ours is, by its path or in the session's own catalog; null of other names. */
  private String path(List name) {
    String format = Python.format();
    if (name.size() == 2 && format.equalsIgnoreCase((String) name.get(0)) && isPath((String) name.get(1))) {
      return (String) name.get(1);
    }
    org.apache.spark.sql.internal.SessionState state =
        ((org.apache.spark.sql.classic.SparkSession) session).sessionState();
    String catalog = name.size() == 3 ? (String) name.get(0) : state.catalogManager().currentCatalog().name();
    if (name.size() > 3 || !catalog.equalsIgnoreCase("spark_catalog")) return null;
    Option database = name.size() == 1 ? Option.apply(null) : Option.apply(name.get(name.size() - 2));
    TableIdentifier id = new TableIdentifier((String) name.get(name.size() - 1), database);
    try {
      if (!SessionCatalog.isOurs(id)) return null;
      return SessionCatalog.location(state.catalog().getTableMetadata(id).location());
    } catch (Exception e) {
      // errors of Spark's own are checked here and not in Scala
      Platform.throwException(e);
      return null;
    }
  }

  private static boolean isPath(String text) {
    return text.startsWith("/") || text.indexOf(":/") > 0;
  }

  private static Object ask(Object of, String method) {
    try {
      return of.getClass().getMethod(method, new Class[0]).invoke(of, new Object[0]);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this Spark does not report " + method, e);
    }
  }
}
