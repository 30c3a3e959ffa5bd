package deltaic.spark;

import java.util.Map;
import org.apache.spark.SparkThrowable;

/** An exception of Python that has an error condition, so that handlers in SQL scripts and JDBC clients find it by that. */
public final class ConditionError extends PythonError implements SparkThrowable {
  private final String condition;
  private final String sqlState;
  private final Map parameters;

  ConditionError(String id, String message, String condition, String sqlState, Map parameters) {
    super(id, message);
    this.condition = condition;
    this.sqlState = sqlState;
    this.parameters = parameters;
  }

  public String getCondition() {
    return condition;
  }

  public String getErrorClass() {
    return condition;
  }

  public String getSqlState() {
    return sqlState;
  }

  public Map getMessageParameters() {
    return parameters;
  }
}
