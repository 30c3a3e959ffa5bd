package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.AttributeMap;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.types.DataTypeUtils;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.execution.command.LeafRunnableCommand;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** A statement that Python carries out when Spark executes it, once. */
public final class DeltaCommand extends LogicalPlan implements LeafRunnableCommand {
  private final HashMap request;
  private final Parts parts;
  private final Seq output;

  /** What travels to Python beside the request. */
  abstract static class Parts {
    /** DataFrames and Columns by name, made for the run. */
    abstract HashMap of(SparkSession session);

    /** What EXPLAIN shows below the command. */
    LogicalPlan plan() {
      return null;
    }

    /** Carries the request out. */
    Object answer(HashMap request, HashMap data) throws AnalysisException {
      return Python.call(request, data);
    }
  }

  /** Its arguments are the product's elements: Spark copies tree nodes by reflection. */
  public DeltaCommand(HashMap request, Parts parts, Seq output) {
    this.request = request;
    this.parts = parts;
    this.output = output;
  }

  /** `schema` is that of the rows that the statement answers with. */
  static DeltaCommand of(HashMap request, Parts parts, StructType schema) {
    return new DeltaCommand(request, parts, DataTypeUtils.toAttributes(schema));
  }

  /** A write of the rows of a query. */
  static DeltaCommand write(HashMap request, final LogicalPlan query) {
    return of(request, new Parts() {
      HashMap of(SparkSession session) {
        HashMap out = new HashMap();
        out.put("query", rows(session, query));
        return out;
      }

      LogicalPlan plan() {
        return query;
      }
    }, new StructType());
  }

  static Dataset rows(SparkSession session, LogicalPlan plan) {
    return Dataset$.MODULE$.ofRows((org.apache.spark.sql.classic.SparkSession) session, plan);
  }

  /** Python answers with a Dataset, with rows of numbers as JSON, or with nothing. */
  public Seq run(SparkSession session) throws AnalysisException {
    HashMap data = parts == null ? new HashMap() : parts.of(session);
    data.put("session", session);
    Object answer = parts == null ? Python.call(request, data) : parts.answer(request, data);
    if (answer instanceof Dataset) return Scala.seq(Arrays.asList((Object[]) ((Dataset) answer).collect()));
    ArrayList rows = new ArrayList();
    if (answer != null) {
      JsonNode told = Python.read((String) answer);
      for (int i = 0; i < told.size(); i++) {
        JsonNode row = (JsonNode) told.get(i);
        Object[] values = new Object[row.size()];
        for (int c = 0; c < values.length; c++) values[c] = Long.valueOf(((JsonNode) row.get(c)).asLong());
        rows.add(RowFactory.create(values));
      }
    }
    return Scala.seq(rows);
  }

  public Seq output() {
    return output;
  }

  public Seq children() {
    return Scala.none();
  }

  public Seq innerChildren() {
    LogicalPlan plan = parts == null ? null : parts.plan();
    return plan == null ? Scala.none() : Scala.one(plan);
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
    return 3;
  }

  public Object productElement(int i) {
    return new Object[] {request, parts, output}[i];
  }

  public boolean canEqual(Object other) {
    return other instanceof DeltaCommand;
  }

  public boolean equals(Object other) {
    return this == other;
  }

  public int hashCode() {
    return System.identityHashCode(this);
  }

  public String productPrefix() {
    return "Delta";
  }

  /** What plans show: no options, which may be secrets, and nothing that only the machine reads. */
  private ArrayList shown() {
    ArrayList out = new ArrayList();
    out.add(request.get("op"));
    if (request.get("path") != null) out.add(request.get("path"));
    return out;
  }

  public scala.collection.Iterator stringArgs() {
    return Scala.seq(shown()).iterator();
  }

  public String simpleString(int maxFields) {
    return "Delta " + String.join(" ", shown());
  }
}
