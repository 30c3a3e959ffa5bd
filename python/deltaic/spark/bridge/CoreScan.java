package deltaic.spark;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.plans.QueryPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.LocalTableScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.metric.SQLMetrics$;
import org.apache.spark.sql.types.BinaryType$;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * A scan of a table by the core, in Python workers. Executors need none of our Java classes: the rows are those of a frame
 * of groups of files, one a task, on which a function of Python is mapped. Files are listed when the scan runs.
 */
public final class CoreScan extends SparkPlan {
  private static final String ROWS = "numOutputRows";
  private final LogFileIndex index;
  private final SparkSession session;
  private final Seq output;
  /** The fields of `_metadata` that are read. */
  private final HashSet facts;
  /** JSON, or null. */
  private final String predicate;
  /** The plan of that frame, once it is known. */
  private transient SparkPlan rows;
  private transient scala.collection.immutable.Map metrics;

  /** Its arguments are the product's elements: Spark copies tree nodes by reflection. */
  public CoreScan(LogFileIndex index, SparkSession session, Seq output, HashSet facts, String predicate) {
    this.index = index;
    this.session = session;
    this.output = output;
    this.facts = facts;
    this.predicate = predicate;
  }

  private synchronized void list() {
    if (metrics != null) return;
    LogFileIndex files = index.settled();
    List groups = files.lists.groups(predicate, index.table.rowIdColumn != null && RowIdRule.tells(facts));
    HashMap known = new HashMap();
    if (groups.isEmpty()) {
      known.put(ROWS, SQLMetrics$.MODULE$.createMetric(session.sparkContext(), "number of output rows"));
    } else {
      rows = mapped(files.table, groups);
      // the node that takes rows from Python counts them
      for (SparkPlan at = rows; !known.containsKey(ROWS); at = (SparkPlan) at.children().head()) {
        Option received = at.metrics().get("pythonNumRowsReceived");
        if (received.isDefined()) known.put(ROWS, received.get());
        else if (at.children().isEmpty()) throw new IllegalStateException("this Spark does not count rows of Python");
      }
    }
    metrics = Scala.immutable(known);
  }

  private SparkPlan mapped(OpenTable table, List groups) {
    ArrayList given = new ArrayList();
    for (int i = 0; i < groups.size(); i++) given.add(RowFactory.create(new Object[] {groups.get(i)}));
    JavaRDD each = JavaSparkContext.fromSparkContext(session.sparkContext()).parallelize(given, given.size());
    Dataset files = session.createDataFrame(each, new StructType().add("files", BinaryType$.MODULE$, false));
    HashMap request = new HashMap();
    request.put("op", "readGroups");
    request.put("columns", columns(table));
    request.put("schema", schema().json());
    return ((org.apache.spark.sql.classic.Dataset) Python.call(request, files)).queryExecution().sparkPlan();
  }

  /** The columns of the output: the name of one of the table, or what is read of `_metadata`: fields, each with the column in which files
   *  keep it. */
  private ArrayList columns(OpenTable table) {
    ArrayList out = new ArrayList();
    List attributes = Scala.list(output);
    for (int i = 0; i < attributes.size(); i++) {
      AttributeReference column = (AttributeReference) attributes.get(i);
      if (!CoreReads.isMetadata(column)) {
        out.add(column.name());
        continue;
      }
      HashMap fields = new HashMap();
      String[] names = ((StructType) column.dataType()).fieldNames();
      for (int f = 0; f < names.length; f++) {
        if (facts.contains(names[f])) fields.put(names[f], RowIdRule.keptIn(table, names[f]));
      }
      out.add(fields);
    }
    return out;
  }

  /** Types of the output, by names that mean nothing. */
  private StructType schema() {
    StructType out = new StructType();
    List attributes = Scala.list(output);
    for (int i = 0; i < attributes.size(); i++) {
      AttributeReference column = (AttributeReference) attributes.get(i);
      out = out.add(new StructField("c" + i, column.dataType(), column.nullable(), org.apache.spark.sql.types.Metadata.empty()));
    }
    return out;
  }

  public RDD doExecute() {
    list();
    if (rows != null) return rows.execute();
    return sparkContext().emptyRDD(scala.reflect.ClassTag$.MODULE$.apply(InternalRow.class));
  }

  public scala.collection.immutable.Map metrics() {
    list();
    return metrics;
  }

  public Seq output() {
    return output;
  }

  /** Operators above travel to executors with their plan, of which they need the columns: those know none of our classes.
   *  Janino makes what is private static, which serialization does not find. */
  protected Object writeReplace() {
    // newer versions of Spark have more arguments
    Constructor made = LocalTableScanExec.class.getConstructors()[0];
    Class[] types = made.getParameterTypes();
    Object[] values = new Object[types.length];
    for (int i = 2; i < values.length; i++) {
      values[i] = types[i] == boolean.class ? (Object) Boolean.FALSE : Option.empty();
    }
    values[0] = output;
    values[1] = Scala.none();
    try {
      return made.newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  public Seq children() {
    return Scala.none();
  }

  public TreeNode mapChildren(scala.Function1 f) {
    return this;
  }

  public TreeNode withNewChildrenInternal(IndexedSeq children) {
    return this;
  }

  /** Two scans are the same where they are one. */
  public QueryPlan doCanonicalize() {
    return this;
  }

  public String nodeName() {
    return "DeltaScan";
  }

  public int productArity() {
    return 5;
  }

  public Object productElement(int i) {
    return new Object[] {index, session, output, facts, predicate}[i];
  }

  public boolean canEqual(Object other) {
    return other instanceof CoreScan;
  }

  public boolean equals(Object other) {
    return this == other;
  }

  public int hashCode() {
    return System.identityHashCode(this);
  }

  /** What plans show: nothing of how the store is reached. */
  public scala.collection.Iterator stringArgs() {
    ArrayList shown = new ArrayList();
    shown.add(output.mkString("[", ", ", "]"));
    shown.add(index.toString());
    if (predicate != null) shown.add("PushedFilters: " + predicate);
    return Scala.seq(shown).iterator();
  }
}
