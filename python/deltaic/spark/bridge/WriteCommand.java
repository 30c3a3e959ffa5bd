package deltaic.spark;

import java.util.HashMap;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.AttributeMap;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.execution.command.LeafRunnableCommand;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** Writes the rows of a query into a table, through the writer in Python, when Spark executes it. */
public final class WriteCommand extends LogicalPlan implements LeafRunnableCommand {
  private final String path;
  private final LogicalPlan query;
  private final String mode;
  private final HashMap options;

  /** Its arguments are the product's elements: Spark copies tree nodes by reflection. */
  public WriteCommand(String path, LogicalPlan query, String mode, HashMap options) {
    this.path = path;
    this.query = query;
    this.mode = mode;
    this.options = options;
  }

  public Seq run(SparkSession session) {
    HashMap given = new HashMap(options);
    given.put("path", path);
    HashMap request = new HashMap();
    request.put("op", "save");
    request.put("mode", mode);
    request.put("options", given);
    Python.call(request, Dataset$.MODULE$.ofRows((org.apache.spark.sql.classic.SparkSession) session, query));
    return Scala.none();
  }

  public Seq output() {
    return Scala.none();
  }

  public Seq children() {
    return Scala.none();
  }

  public Seq innerChildren() {
    return Scala.one(query);
  }

  public TreeNode mapChildren(scala.Function1 f) {
    return this;
  }

  public TreeNode withNewChildrenInternal(IndexedSeq children) {
    return this;
  }

  public scala.collection.immutable.Map metrics() {
    return Scala.emptyMap();
  }

  public Seq nodePatterns() {
    return Scala.none();
  }

  public void org$apache$spark$sql$catalyst$plans$logical$Command$_setter_$nodePatterns_$eq(Seq patterns) {}

  public AttributeSet producedAttributes() {
    return outputSet();
  }

  public Statistics stats() {
    AttributeMap none = new AttributeMap(Scala.emptyMap());
    return new Statistics(scala.math.BigInt.apply(1), Scala.nothing(), none, false);
  }

  public int productArity() {
    return 4;
  }

  public Object productElement(int i) {
    return new Object[] {path, query, mode, options}[i];
  }

  public boolean canEqual(Object other) {
    return other instanceof WriteCommand;
  }

  public boolean equals(Object other) {
    return this == other;
  }

  public int hashCode() {
    return System.identityHashCode(this);
  }

  public String productPrefix() {
    return "DeltaWrite";
  }
}
