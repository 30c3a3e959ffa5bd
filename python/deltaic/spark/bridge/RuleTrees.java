package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.analysis.UnresolvedExtractValue;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.Generator;
import org.apache.spark.sql.catalyst.expressions.LeafExpression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedLambdaVariable;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.UnresolvedNamedLambdaVariable;
import org.apache.spark.sql.catalyst.expressions.UserDefinedExpression;
import org.apache.spark.sql.catalyst.expressions.VariableReference;
import org.apache.spark.sql.catalyst.expressions.WindowExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/**
 * What a rule of a table would do that the core does not print: its text is parsed, and its tree looked at twice, as it
 * was written and as Spark resolved it. Nothing is resolved that may load a class or open a table, and nothing is computed.
 * A refusal is `what: why`, where what is `subquery`, `random`, `user` or `function`.
 */
public final class RuleTrees {
  private static final String EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions.";
  private static final String ANALYSIS = "org.apache.spark.sql.catalyst.analysis.";

  private RuleTrees() {}

  /** Why the functions of these names are not Spark's own in a session, or null where they are. */
  public static String refusalOfFunctions(SparkSession session, List names) {
    org.apache.spark.sql.classic.SparkSession classic = (org.apache.spark.sql.classic.SparkSession) session;
    for (Iterator i = names.iterator(); i.hasNext(); ) {
      String name = (String) i.next();
      Option known = classic.sessionState().catalog().lookupBuiltinOrTempFunction(name);
      if (known.isEmpty()) return "function: this Spark has no function `" + name + "`";
      if (!((ExpressionInfo) known.get()).getSource().equals("built-in")) {
        return "user: the function `" + name + "` is one of the session, and not Spark's";
      }
    }
    return null;
  }

  /** Why a text is no rule over the rows of a Dataset, or null where it is one. Rules may call the functions of these names. */
  public static String refusal(Dataset rows, String text, List allowed, boolean constant) throws Exception {
    org.apache.spark.sql.classic.SparkSession session =
        (org.apache.spark.sql.classic.SparkSession) rows.sparkSession();
    Expression written = session.sessionState().sqlParser().parseExpression(text);
    String refused = ofWritten(session, written, allowed);
    if (refused != null) return refused;
    LogicalPlan query = (LogicalPlan) ((org.apache.spark.sql.classic.Dataset) rows).queryExecution().analyzed();
    Expression named = new Alias(written, "value", NamedExpression.newExprId(), Scala.none(), Scala.nothing(), Scala.none());
    LogicalPlan plan = (LogicalPlan) Dataset$.MODULE$.ofRows(session, new Project(Scala.one(named), query))
        .queryExecution().analyzed();
    if (!(plan instanceof Project) || ((Project) plan).projectList().size() != 1) {
      return "function: it is more than a value of each row";
    }
    Expression resolved = (Expression) ((Project) plan).projectList().apply(0);
    if (constant && !resolved.references().isEmpty()) return "function: it is not a constant";
    return resolved.deterministic() ? ofResolved(resolved, allowed) : "random: it is not deterministic";
  }

  /** The columns with the defaults that only Spark knows; it refuses by name those that it must not be given. */
  static StructType withDefaults(StructType schema, JsonNode unprinted) {
    if (unprinted == null || unprinted.isNull()) return schema;
    ArrayList allowed = new ArrayList();
    for (Iterator i = unprinted.get("functions").elements(); i.hasNext(); ) allowed.add(((JsonNode) i.next()).asText());
    StructField[] fields = (StructField[]) schema.fields().clone();
    for (int i = 0; i < fields.length; i++) {
      JsonNode text = unprinted.get("columns").get(fields[i].name());
      if (text == null || !isConstant(text.asText(), allowed)) continue;
      MetadataBuilder metadata = new MetadataBuilder().withMetadata(fields[i].metadata());
      metadata.putString("CURRENT_DEFAULT", text.asText());
      fields[i] = new StructField(fields[i].name(), fields[i].dataType(), fields[i].nullable(), metadata.build());
    }
    return new StructType(fields);
  }

  private static boolean isConstant(String text, List allowed) {
    try {
      return refusal((Dataset) SparkSession.active().range(1L), text, allowed, true) == null;
    } catch (Exception e) {
      // no expression
      return false;
    }
  }

  private static String ofWritten(SparkSession session, Expression e, List allowed) {
    String name = e.getClass().getName();
    if (e instanceof PlanExpression) return "subquery: it holds a subquery";
    if (e instanceof UnresolvedFunction) {
      UnresolvedFunction call = (UnresolvedFunction) e;
      String called = ((String) call.nameParts().last()).toLowerCase(Locale.ROOT);
      if (call.nameParts().size() != 1 || !allowed.contains(called)) {
        return "function: the function `" + called + "` is not one that such a rule may call";
      }
      String theirs = refusalOfFunctions(session, java.util.Collections.singletonList(called));
      if (theirs != null) return theirs;
    } else if (name.startsWith(ANALYSIS)) {
      if (!(e instanceof UnresolvedAttribute || e instanceof UnresolvedExtractValue)) return unknown(e);
    } else if (isMore(e) || !name.startsWith(EXPRESSIONS)) {
      return unknown(e);
    }
    for (Iterator i = Scala.list(e.children()).iterator(); i.hasNext(); ) {
      String refused = ofWritten(session, (Expression) i.next(), allowed);
      if (refused != null) return refused;
    }
    return null;
  }

  private static String ofResolved(Expression e, List allowed) {
    if (e instanceof UserDefinedExpression) return "user: it calls a function of the user's";
    if (e instanceof PlanExpression) return "subquery: it holds a subquery";
    if (isMore(e) || e instanceof VariableReference || !e.getClass().getName().startsWith(EXPRESSIONS)) return unknown(e);
    boolean plain = e instanceof AttributeReference || e instanceof Literal || e instanceof NamedLambdaVariable
        || e instanceof UnresolvedNamedLambdaVariable;
    // what has no arguments reads something else
    if (e instanceof LeafExpression && !plain && !allowed.contains(e.prettyName().toLowerCase(Locale.ROOT))) {
      return "function: the function `" + e.prettyName() + "` is not one that such a rule may call";
    }
    for (Iterator i = Scala.list(e.children()).iterator(); i.hasNext(); ) {
      String refused = ofResolved((Expression) i.next(), allowed);
      if (refused != null) return refused;
    }
    return null;
  }

  /** Whether it is more than a value of each row. */
  private static boolean isMore(Expression e) {
    return e instanceof Generator || e instanceof AggregateExpression || e instanceof AggregateFunction
        || e instanceof WindowExpression;
  }

  private static String unknown(Expression e) {
    return "function: `" + e.getClass().getSimpleName() + "` is not one of what a rule may hold";
  }
}
