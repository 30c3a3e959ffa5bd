package deltaic.spark;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.DynamicPruning;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.FileSourceMetadataAttribute$;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.InputFileBlockLength;
import org.apache.spark.sql.catalyst.expressions.InputFileBlockStart;
import org.apache.spark.sql.catalyst.expressions.InputFileName;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression$;
import org.apache.spark.sql.catalyst.planning.PhysicalOperation$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.datasources.DataSourceStrategy$;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Tuple3;
import scala.collection.immutable.Seq;

/** Plans the scans of tables that the core reads: only the columns that the query needs, of the files that its filters leave. */
public final class CoreReads extends SparkStrategy {
  static boolean isOurs(LogicalRelation scan) {
    return DeletionVectorRule.indexOf(scan) != null && ((HadoopFsRelation) scan.relation()).fileFormat() instanceof CoreFormat;
  }

  public Seq apply(LogicalPlan plan) {
    boolean begins = plan instanceof Project || plan instanceof Filter || plan instanceof LogicalRelation;
    if (begins) checkFileNames(plan);
    Option found = begins ? PhysicalOperation$.MODULE$.unapply(plan) : Option.empty();
    if (found.isEmpty()) return Scala.none();
    Tuple3 parts = (Tuple3) found.get();
    if (!(parts._3() instanceof LogicalRelation) || !isOurs((LogicalRelation) parts._3())) return Scala.none();
    return Scala.one(planned((Seq) parts._1(), Scala.list((Seq) parts._2()), (LogicalRelation) parts._3()));
  }

  /** Refuses the functions by which Spark's own scans tell their file: here they would be empty. */
  private static void checkFileNames(LogicalPlan plan) {
    List expressions = Scala.list(plan.expressions());
    for (int i = 0; i < expressions.size(); i++) {
      Expression e = (Expression) expressions.get(i);
      if (!has(e, InputFileName.class) && !has(e, InputFileBlockStart.class) && !has(e, InputFileBlockLength.class)) continue;
      List leaves = Scala.list(plan.collectLeaves());
      for (int l = 0; l < leaves.size(); l++) {
        if (!(leaves.get(l) instanceof LogicalRelation) || !isOurs((LogicalRelation) leaves.get(l))) continue;
        String uri = DeletionVectorRule.indexOf((LogicalRelation) leaves.get(l)).table.uri;
        throw Refusal.of("input_file_name() where Hadoop has no file system for the table",
            "use _metadata.file_path, or add " + HadoopFiles.needed(uri) + " to spark.jars.packages", uri);
      }
    }
  }

  private static SparkPlan planned(Seq projects, List given, LogicalRelation scan) {
    ArrayList filters = new ArrayList();
    ArrayList pushed = new ArrayList();
    for (int i = 0; i < given.size(); i++) {
      Expression filter = (Expression) given.get(i);
      // what a join tells of its other side only saves work
      if (has(filter, DynamicPruning.class)) continue;
      filters.add(filter);
      if (!SubqueryExpression$.MODULE$.hasSubquery(filter)) pushed.add(filter);
    }
    LogFileIndex index = DeletionVectorRule.indexOf(scan);
    List exact = Scala.list(DataSourceStrategy$.MODULE$.normalizeExprs(Scala.seq(pushed), scan.output()));
    // what happened to a row is no column of the log
    String predicate = index.table.changeType != null
        ? null : Predicates.both(Predicates.translate(exact, index.table), index.mixed);
    List all = Scala.list(scan.output());
    ArrayList expressions = new ArrayList(Scala.list(projects));
    expressions.addAll(filters);
    List output = needed(all, expressions);
    HashSet facts = new HashSet();
    for (int i = 0; i < expressions.size(); i++) collectFacts((Expression) expressions.get(i), facts);
    SparkPlan rows = new CoreScan(
        index, ((HadoopFsRelation) scan.relation()).sparkSession(), Scala.seq(output), facts, predicate);
    if (!filters.isEmpty()) {
      Expression condition = (Expression) filters.get(0);
      for (int i = 1; i < filters.size(); i++) condition = new And(condition, (Expression) filters.get(i));
      rows = new FilterExec(condition, rows);
    }
    return Scala.list(projects).equals(output) ? rows : new ProjectExec(projects, rows);
  }

  /** The columns of a scan that a query asks for, one at least: rows without columns cannot come from Python. */
  private static List needed(List all, List expressions) {
    HashSet asked = new HashSet();
    for (int i = 0; i < expressions.size(); i++) {
      List columns = Scala.list(((Expression) expressions.get(i)).references().toSeq());
      for (int c = 0; c < columns.size(); c++) asked.add(((Attribute) columns.get(c)).exprId());
    }
    ArrayList found = new ArrayList();
    Object first = null;
    for (int i = 0; i < all.size(); i++) {
      AttributeReference column = (AttributeReference) all.get(i);
      if (asked.contains(column.exprId())) found.add(column);
      if (first == null && !isMetadata(column)) first = column;
    }
    if (found.isEmpty()) found.add(first);
    return found;
  }

  /** Adds the fields of `_metadata` that an expression reads. */
  private static void collectFacts(Expression e, HashSet facts) {
    if (e instanceof GetStructField && isMetadata(((GetStructField) e).child())) {
      facts.add(((GetStructField) e).extractFieldName());
      return;
    }
    if (isMetadata(e)) facts.addAll(java.util.Arrays.asList(((StructType) e.dataType()).fieldNames()));
    List children = Scala.list(e.children());
    for (int i = 0; i < children.size(); i++) collectFacts((Expression) children.get(i), facts);
  }

  /** Whether a column of a scan is `_metadata`. */
  static boolean isMetadata(Expression column) {
    return column instanceof AttributeReference
        && FileSourceMetadataAttribute$.MODULE$.unapply((AttributeReference) column).isDefined();
  }

  private static boolean has(Expression e, Class kind) {
    if (kind.isInstance(e)) return true;
    List children = Scala.list(e.children());
    for (int i = 0; i < children.size(); i++) if (has((Expression) children.get(i), kind)) return true;
    return false;
  }
}
