package deltaic.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.VariableReference;
import org.apache.spark.sql.catalyst.plans.logical.Assignment;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import scala.Function1;
import scala.Option;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractPartialFunction;

/**
 * Variables of the session and of SQL scripts in UPDATE and MERGE of our tables, which Spark knows in other statements only.
 * A column takes precedence. A rule that runs before resolution: it refuses a MERGE of what it does not know at once.
 */
public final class StatementVariables extends Rule {
  private final SparkSession session;

  StatementVariables(SparkSession session) {
    this.session = session;
  }

  public TreeNode apply(TreeNode plan) {
    return (TreeNode) ((LogicalPlan) plan).resolveOperators(new AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return node instanceof MergeIntoTable || node instanceof UpdateTable;
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        return isDefinedAt(node) ? of((LogicalPlan) node) : otherwise.apply(node);
      }
    });
  }

  /** The values that variables have now in place of them. */
  static Expression valued(Expression e) {
    return (Expression) e.transform(new AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return node instanceof VariableReference;
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        Expression variable = (Expression) node;
        return Literal$.MODULE$.create(variable.eval(null), variable.dataType());
      }
    });
  }

  private LogicalPlan of(LogicalPlan statement) {
    Map variables = variables(statement);
    if (variables.isEmpty()) return statement;
    LogicalPlan target = RouteWrites.resolvedTarget(session, (LogicalPlan) statement.children().apply(0));
    if (target == null) return statement;
    if (statement instanceof UpdateTable) {
      UpdateTable update = (UpdateTable) statement;
      Resolver resolver = new Resolver(variables, new LogicalPlan[] {target});
      return new UpdateTable(update.table(), resolver.all(update.assignments()), resolver.of(update.condition()));
    }
    MergeIntoTable merge = (MergeIntoTable) statement;
    LogicalPlan source = DeltaCommand.rows(session, merge.sourceTable()).queryExecution().analyzed();
    // a clause may name what its rows have
    Resolver both = new Resolver(variables, new LogicalPlan[] {target, source});
    Resolver ofSource = new Resolver(variables, new LogicalPlan[] {source});
    Resolver ofTarget = new Resolver(variables, new LogicalPlan[] {target});
    return new MergeIntoTable(merge.targetTable(), merge.sourceTable(), both.of(merge.mergeCondition()),
        both.all(merge.matchedActions()), ofSource.all(merge.notMatchedActions()),
        ofTarget.all(merge.notMatchedBySourceActions()), merge.withSchemaEvolution());
  }

  /** The variables of the names in a statement, by name. Columns may have these names, too. */
  private Map variables(LogicalPlan statement) {
    HashMap out = new HashMap();
    ArrayList names = new ArrayList();
    List all = Scala.list(statement.expressions());
    for (int i = 0; i < all.size(); i++) collect((Expression) all.get(i), names);
    if (names.isEmpty()) return out;
    ArrayList columns = new ArrayList();
    for (int i = 0; i < names.size(); i++) {
      // a name that the statement has would be that of the column beside it
      columns.add(new Alias((Expression) names.get(i), "__deltaic_variable_" + i, NamedExpression.newExprId(), Scala.none(),
          Scala.nothing(), Scala.none()));
    }
    // without columns, what resolves is something else; all at once, and what does not resolve is no error
    LogicalPlan plan = new Project(Scala.seq(columns), new OneRowRelation());
    plan = (LogicalPlan) ((org.apache.spark.sql.classic.SparkSession) session).sessionState().analyzer().execute(plan);
    List found = Scala.list(plan.expressions());
    for (int i = 0; i < names.size(); i++) {
      Expression value = (Expression) ((Expression) found.get(i)).children().apply(0);
      if (value.resolved() && hasVariable(value)) out.put(((UnresolvedAttribute) names.get(i)).nameParts(), value);
    }
    return out;
  }

  private static void collect(Expression e, List names) {
    if (e instanceof UnresolvedAttribute) names.add(e);
    List children = e instanceof Assignment ? Arrays.asList(new Object[] {((Assignment) e).value()}) : Scala.list(e.children());
    for (int i = 0; i < children.size(); i++) collect((Expression) children.get(i), names);
  }

  private static boolean hasVariable(Expression e) {
    if (e instanceof VariableReference) return true;
    List children = Scala.list(e.children());
    for (int i = 0; i < children.size(); i++) if (hasVariable((Expression) children.get(i))) return true;
    return false;
  }

  /** Puts variables in place of names that no column has. */
  private final class Resolver extends AbstractFunction1 {
    private final Map variables;
    private final LogicalPlan[] plans;

    Resolver(Map variables, LogicalPlan[] plans) {
      this.variables = variables;
      this.plans = plans;
    }

    public Object apply(Object node) {
      if (node instanceof Assignment) {
        Assignment set = (Assignment) node;
        return new Assignment(set.key(), (Expression) apply(set.value()));
      }
      if (!(node instanceof UnresolvedAttribute)) return ((Expression) node).mapChildren(this);
      Object variable = variables.get(((UnresolvedAttribute) node).nameParts());
      return variable == null || isColumn((UnresolvedAttribute) node) ? node : variable;
    }

    Expression of(Expression e) {
      return (Expression) apply(e);
    }

    Option of(Option e) {
      return e.isDefined() ? Option.apply(apply(e.get())) : e;
    }

    scala.collection.immutable.Seq all(scala.collection.Seq expressions) {
      ArrayList out = new ArrayList(Scala.list(expressions));
      for (int i = 0; i < out.size(); i++) out.set(i, apply(out.get(i)));
      return Scala.seq(out);
    }

    /** Also where Spark refuses the name, and says so. */
    private boolean isColumn(UnresolvedAttribute name) {
      for (int i = 0; i < plans.length; i++) {
        Option found = MergeKeys.resolved(session, plans[i], name);
        if (found == null || found.isDefined()) return true;
      }
      return false;
    }
  }
}
