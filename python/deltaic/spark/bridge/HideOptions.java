package deltaic.spark;

import java.lang.reflect.Constructor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.sql.RuntimeConfig;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.TableSpec;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import scala.Function1;
import scala.Product;

/**
 * Tells Spark which options are secrets, so that plans, event logs and DESCRIBE do not show their values; what it hides
 * already stays hidden. Of the OPTIONS of CREATE and REPLACE TABLE alone Spark hides nothing by the settings of a session,
 * but by one that is among these options themselves: a resolution rule puts it there.
 */
public final class HideOptions extends Rule {
  private static final String OF_OPTIONS = "spark.sql.redaction.options.regex";
  private static final String OF_SETTINGS = "spark.redaction.regex";
  private static final String NAMES = Build.secrets();

  HideOptions(SparkSession session) {
    // a session that is made later begins with what its builder was given, whatever the context says by now
    hide(session);
  }

  /** In a session. Idempotent. */
  public static void hide(SparkSession session) {
    session.conf().set(OF_OPTIONS, both(session.conf().get(OF_OPTIONS)));
  }

  /** In an application's event log, and in sessions that are made later. Idempotent. */
  public static void inContext(SparkContext context) {
    SparkConf ofAll = context.conf();
    String hidden = ofAll.get(OF_SETTINGS, ConfigEntry.findEntry(OF_SETTINGS).defaultValueString());
    ofAll.set(OF_SETTINGS, both(hidden));
  }

  private static String both(String hidden) {
    return hidden.contains(NAMES) ? hidden : "(?:" + hidden + ")|(?:" + NAMES + ")";
  }

  /** What texts of this session hide. */
  private static String hidden() {
    RuntimeConfig conf = SparkSession.active().conf();
    return "(?:" + conf.get(OF_SETTINGS, NAMES) + ")|(?:" + conf.get(OF_OPTIONS) + ")";
  }

  /** What a catalog gets of a table, without that setting. */
  static Map without(Map properties) {
    HashMap out = new HashMap(properties);
    out.remove(OF_SETTINGS);
    out.remove("option." + OF_SETTINGS);
    return out;
  }

  public TreeNode apply(TreeNode plan) {
    return (TreeNode) ((LogicalPlan) plan).resolveOperators(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return specOf(node) >= 0;
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        int at = specOf(node);
        return at < 0 ? otherwise.apply(node) : hidden((TreeNode) node, at);
      }
    });
  }

  /** Where a statement has the definition of a table of ours whose options would show, or -1. */
  private static int specOf(Object node) {
    List children = Scala.list(((LogicalPlan) node).children());
    if (children.isEmpty() || !(children.get(0) instanceof ResolvedIdentifier)) return -1;
    ResolvedIdentifier named = (ResolvedIdentifier) children.get(0);
    // only our catalog takes the setting away again
    if (!(named.catalog() instanceof SessionCatalog)) return -1;
    Product product = (Product) node;
    for (int i = 0; i < product.productArity(); i++) {
      if (!(product.productElement(i) instanceof TableSpec)) continue;
      TableSpec spec = (TableSpec) product.productElement(i);
      HashMap told = new HashMap();
      if (spec.provider().isDefined()) told.put("provider", spec.provider().get());
      boolean ours = SessionCatalog.ours(named.identifier(), told);
      return ours && !spec.options().isEmpty() && !spec.options().contains(OF_SETTINGS) ? i : -1;
    }
    return -1;
  }

  private static Object hidden(TreeNode node, int at) {
    Object[] arguments = elements((Product) node);
    TableSpec spec = (TableSpec) arguments[at];
    HashMap options = new HashMap(Scala.map(spec.options()));
    options.put(OF_SETTINGS, hidden());
    Object[] values = elements(spec);
    for (int i = 0; i < values.length; i++) {
      if (spec.productElementName(i).equals("options")) values[i] = Scala.immutable(options);
    }
    try {
      // the class has more fields in newer versions of Spark
      Constructor make = TableSpec.class.getConstructors()[0];
      arguments[at] = make.newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
    return node.makeCopy(arguments);
  }

  private static Object[] elements(Product product) {
    Object[] out = new Object[product.productArity()];
    for (int i = 0; i < out.length; i++) out[i] = product.productElement(i);
    return out;
  }
}
