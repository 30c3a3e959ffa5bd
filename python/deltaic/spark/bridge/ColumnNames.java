package deltaic.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.analysis.UnresolvedExtractValue;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction$;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.CommonExpressionDef;
import org.apache.spark.sql.catalyst.expressions.CommonExpressionRef;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetArrayStructFields;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.InheritAnalysisRules;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.OuterReference;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.With;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractPartialFunction;

/**
 * Takes the columns of analysed expressions back to names: Python reads the table several times, and no read has the
 * columns that the statement was resolved with.
 */
final class ColumnNames {
  /** Name parts by expression id, outside and inside of subqueries. */
  private final HashMap outside = new HashMap();
  private final HashMap inside = new HashMap();
  /** Ids of columns that are called as they call themselves, with their qualifiers. */
  private final HashSet asTheyStand = new HashSet();

  /** Columns of a plan, called by `names`; `alias` is null where the name alone says it. */
  void add(LogicalPlan plan, List names, String alias, String aliasInSubqueries) {
    List columns = Scala.list(plan.output());
    for (int i = 0; i < columns.size(); i++) {
      Object id = ((Expression) columns.get(i)) instanceof AttributeReference
          ? ((AttributeReference) columns.get(i)).exprId() : null;
      if (id == null) continue;
      outside.put(id, parts(alias, (String) names.get(i)));
      inside.put(id, parts(aliasInSubqueries, (String) names.get(i)));
    }
  }

  /** A column by its id; `alias` is null where the name alone says it. */
  void add(Object id, String name, String alias) {
    outside.put(id, parts(alias, name));
  }

  /** A column by its id, under the name that it has in that place. */
  void addAsItStands(Object id) {
    asTheyStand.add(id);
  }

  static boolean hasSubquery(Expression e) {
    return SubqueryExpression.hasSubquery(e);
  }

  /** A Column for Python. Comparisons of columns stay comparisons that it can look into. */
  Column column(Expression e) {
    // a Column of a null would lose its type
    if (e instanceof Literal && ((Literal) e).value() == null) return functions.lit(null).cast(e.dataType());
    if (e instanceof And) return column(((And) e).left()).and(column(((And) e).right()));
    if (e instanceof EqualTo && isColumn(((EqualTo) e).left()) && isColumn(((EqualTo) e).right())) {
      return named(((EqualTo) e).left()).equalTo(named(((EqualTo) e).right()));
    }
    if (e instanceof EqualNullSafe && isColumn(((EqualNullSafe) e).left()) && isColumn(((EqualNullSafe) e).right())) {
      return named(((EqualNullSafe) e).left()).eqNullSafe(named(((EqualNullSafe) e).right()));
    }
    return isColumn(e) ? named(e) : ExpressionUtils.column(nameless(e));
  }

  /** The names of a column, or of a field in it, from the column on; null for anything else. */
  static List pathOf(Expression e) {
    if (e instanceof AttributeReference) {
      ArrayList path = new ArrayList();
      path.add(((AttributeReference) e).name());
      return path;
    }
    if (!(e instanceof GetStructField)) return null;
    List path = pathOf(((GetStructField) e).child());
    if (path != null) path.add(fieldName((GetStructField) e));
    return path;
  }

  private boolean isColumn(Expression e) {
    return e instanceof AttributeReference && outside.containsKey(((AttributeReference) e).exprId());
  }

  private Column named(Expression e) {
    List parts = (List) outside.get(((AttributeReference) e).exprId());
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < parts.size(); i++) {
      out.append(i == 0 ? "`" : ".`").append(((String) parts.get(i)).replace("`", "``")).append('`');
    }
    return functions.col(out.toString());
  }

  Expression nameless(Expression e) {
    List path = fieldPath(e);
    if (path != null) return new UnresolvedAttribute(Scala.seq(path));
    if (e instanceof GetArrayStructFields) {
      GetArrayStructFields get = (GetArrayStructFields) e;
      return new UnresolvedExtractValue(nameless(get.child()), Literal$.MODULE$.apply(get.field().name()));
    }
    if (e instanceof GetStructField) {
      // of something that is computed: its type is known only while its columns are
      return new UnresolvedExtractValue(
          nameless(((GetStructField) e).child()), Literal$.MODULE$.apply(fieldName((GetStructField) e)));
    }
    // BETWEEN and NULLIF: what they use twice has no type while its columns are names
    if (e instanceof InheritAnalysisRules && e.children().head() instanceof With) return spelledOut((InheritAnalysisRules) e);
    if (e instanceof With) return nameless(inlined((With) e));
    Expression at = e;
    if (e instanceof SubqueryExpression) {
      SubqueryExpression subquery = (SubqueryExpression) e;
      at = (Expression) ((SubqueryExpression) subquery.withNewPlan(within((LogicalPlan) subquery.plan())))
          .withNewOuterAttrs(Scala.none());
    }
    return (Expression) at.mapChildren(new AbstractFunction1() {
      public Object apply(Object child) {
        return nameless((Expression) child);
      }
    });
  }

  private Expression spelledOut(InheritAnalysisRules call) {
    Expression meaning = (Expression) ((Expression) call).children().head();
    if (meaning.deterministic()) return nameless(meaning);
    // twice, it would have two values
    ArrayList given = new ArrayList(Scala.list(call.parameters()));
    for (int i = 0; i < given.size(); i++) given.set(i, nameless((Expression) given.get(i)));
    return UnresolvedFunction$.MODULE$.apply(((Expression) call).prettyName(), Scala.seq(given), false);
  }

  /** An expression with what it uses twice in each of these places. */
  private static Expression inlined(With with) {
    final HashMap meanings = new HashMap();
    List definitions = Scala.list(with.defs());
    for (int i = 0; i < definitions.size(); i++) {
      CommonExpressionDef one = (CommonExpressionDef) definitions.get(i);
      meanings.put(one.id(), one.child());
    }
    return (Expression) with.child().transformUp(new AbstractPartialFunction() {
      public boolean isDefinedAt(Object x) {
        return x instanceof CommonExpressionRef && meanings.containsKey(((CommonExpressionRef) x).id());
      }

      public Object applyOrElse(Object x, Function1 otherwise) {
        return isDefinedAt(x) ? meanings.get(((CommonExpressionRef) x).id()) : otherwise.apply(x);
      }
    });
  }

  /** The plan of a subquery, with references to the rows outside of it by name. */
  private LogicalPlan within(LogicalPlan plan) {
    return (LogicalPlan) plan.transformAllExpressionsWithSubqueries(new AbstractPartialFunction() {
      public boolean isDefinedAt(Object x) {
        return x instanceof OuterReference && id((OuterReference) x) != null;
      }

      public Object applyOrElse(Object x, Function1 otherwise) {
        if (!isDefinedAt(x)) return otherwise.apply(x);
        return new UnresolvedAttribute(Scala.seq((List) inside.get(id((OuterReference) x))));
      }

      private Object id(OuterReference reference) {
        Object id = reference.e() instanceof AttributeReference ? ((AttributeReference) reference.e()).exprId() : null;
        return id != null && inside.containsKey(id) ? id : null;
      }
    });
  }

  private List fieldPath(Expression e) {
    if (e instanceof AttributeReference) {
      if (asTheyStand.contains(((AttributeReference) e).exprId())) {
        ArrayList standing = new ArrayList(Scala.list(((AttributeReference) e).qualifier()));
        standing.add(((AttributeReference) e).name());
        return standing;
      }
      List known = (List) outside.get(((AttributeReference) e).exprId());
      return known == null ? null : new ArrayList(known);
    }
    if (!(e instanceof GetStructField)) return null;
    List path = fieldPath(((GetStructField) e).child());
    if (path != null) path.add(fieldName((GetStructField) e));
    return path;
  }

  private static String fieldName(GetStructField get) {
    return ((StructType) get.child().dataType()).fields()[get.ordinal()].name();
  }

  private static List parts(String alias, String name) {
    ArrayList out = new ArrayList();
    if (alias != null) out.add(alias);
    out.add(name);
    return out;
  }
}
