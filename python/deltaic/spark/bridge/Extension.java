package deltaic.spark;

import org.apache.spark.sql.SparkSessionExtensions;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/** Puts the rules into every session of a server that has `Plugin`. */
public final class Extension extends AbstractFunction1 {
  public Object apply(Object extensions) {
    Install.inLaterSessions((SparkSessionExtensions) extensions);
    return BoxedUnit.UNIT;
  }
}
