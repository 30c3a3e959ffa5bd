package deltaic.spark;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.CurrentDate;
import org.apache.spark.sql.catalyst.expressions.CurrentTimestampLike;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.LocalTimestamp;
import org.apache.spark.sql.catalyst.expressions.TimeZoneAwareExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.types.TimestampType$;
import scala.Function1;
import scala.Option;

/** A command runs several queries, and Spark gives each of them an instant of its own. */
public final class OneInstant {
  private OneInstant() {}

  /** The rows with `now()`, `current_date()` and `localtimestamp()` of an instant, in microseconds since 1970. */
  public static Dataset of(Dataset data, long micros) {
    if (!asks(data.queryExecution().analyzed())) return data;
    // what is cached stays what it was
    LogicalPlan plan = data.queryExecution().withCachedData();
    if (!asks(plan)) return data;
    final Expression instant = new Literal(Long.valueOf(micros), TimestampType$.MODULE$);
    Object fixed = plan.transformAllExpressionsWithSubqueries(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object e) {
        return e instanceof CurrentTimestampLike || e instanceof CurrentDate || e instanceof LocalTimestamp;
      }

      public Object applyOrElse(Object e, Function1 otherwise) {
        if (!isDefinedAt(e)) return otherwise.apply(e);
        if (e instanceof CurrentTimestampLike) return instant;
        Option zone = ((TimeZoneAwareExpression) e).timeZoneId();
        return new Cast(instant, ((Expression) e).dataType(), zone, EvalMode$.MODULE$.LEGACY());
      }
    });
    return Dataset$.MODULE$.ofRows((org.apache.spark.sql.classic.SparkSession) data.sparkSession(), (LogicalPlan) fixed);
  }

  private static boolean asks(LogicalPlan plan) {
    return plan.containsPattern(TreePattern.CURRENT_LIKE());
  }
}
