package deltaic.spark;

import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSessionExtensions;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * Delta tables for all sessions of an application: `spark.jars` names this JAR, and `spark.sql.extensions` this class, or
 * `spark.plugins` names `Plugin`, which names it there.
 */
public final class Extension extends AbstractFunction1 {
  public Object apply(Object extensions) {
    ServedApplication.begin(SparkContext.getOrCreate());
    Install.inLaterSessions((SparkSessionExtensions) extensions);
    return BoxedUnit.UNIT;
  }
}
