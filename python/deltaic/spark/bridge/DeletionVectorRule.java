package deltaic.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.types.DataTypeUtils;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.*;
import scala.Function1;
import scala.collection.immutable.Seq;

/**
 * Puts the deletion-vector filter on scans of versions in which a file may have a deletion vector, and on scans of changes
 * what happened to the rows; other scans are those of plain Parquet. It runs in the optimizer's last batch, so that analyzed
 * plans, schemas and `_metadata` show nothing of it; a scan that it did not reach refuses files with deletion vectors
 * (LogFileIndex).
 */
public final class DeletionVectorRule extends Rule {
  /** The name under which Spark's Parquet readers fill in the position of a row in its file. */
  private static final String ROW_INDEX = "_tmp_metadata_row_index";

  public TreeNode apply(TreeNode plan) {
    return (TreeNode) ((LogicalPlan) plan).transformWithSubqueries(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return unfiltered(node);
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        return unfiltered(node) ? filtered((LogicalRelation) node) : otherwise.apply(node);
      }
    });
  }

  static boolean unfiltered(Object node) {
    // the core leaves deleted rows out itself
    if (!(node instanceof LogicalRelation) || CoreReads.isOurs((LogicalRelation) node)) return false;
    LogFileIndex index = indexOf((LogicalRelation) node);
    return index != null && !index.withVectors && index.lists.mayHaveVectors();
  }

  static LogFileIndex indexOf(LogicalRelation relation) {
    if (!(relation.relation() instanceof HadoopFsRelation)) return null;
    Object location = ((HadoopFsRelation) relation.relation()).location();
    return location instanceof LogFileIndex ? (LogFileIndex) location : null;
  }

  static LogicalPlan filtered(LogicalRelation node) {
    HadoopFsRelation old = (HadoopFsRelation) node.relation();
    LogFileIndex index = indexOf(node);
    StructType hidden = new StructType();
    Expression rowIndex = metadataRowIndex(node.output());
    StructType dataSchema = old.dataSchema();
    if (rowIndex == null) {
      // nullable, or the reader demands it of the file before it fills it in
      hidden = hidden.add(ROW_INDEX, LongType$.MODULE$, true);
      dataSchema = dataSchema.add(ROW_INDEX, LongType$.MODULE$, true);
    }
    if (index.table.changeType != null) hidden = hidden.add(LogFileIndex.CHANGE, StringType$.MODULE$, true);
    hidden = hidden.add(LogFileIndex.VECTOR, LongType$.MODULE$, true);
    List extra = Scala.list(DataTypeUtils.toAttributes(hidden));
    Expression vector = (Expression) extra.get(extra.size() - 1);
    if (rowIndex == null) rowIndex = (Expression) extra.get(0);

    LogFileIndex withVectors = new LogFileIndex(index.table, index.lists, index.mixed, true);
    HadoopFsRelation relation = new HadoopFsRelation(withVectors, withVectors.partitionSchema(), dataSchema,
        old.bucketSpec(), old.fileFormat(), old.options(), old.sparkSession());
    ArrayList output = new ArrayList(Scala.list(node.output()));
    ArrayList shown = new ArrayList(output);
    if (index.table.changeType != null) {
      nameChange(index.table.changeType, (Expression) extra.get(extra.size() - 2), output, shown);
    }
    output.addAll(extra);
    LogicalRelation scan =
        new LogicalRelation(relation, Scala.seq(output), node.catalogTable(), false, Scala.nothing());
    Expression alive = new Or(new IsNull(vector), new Not(DeletedRows.contain(index.lists.broadcasts, vector, rowIndex)));
    return new Project(Scala.seq(shown), new Filter(alive, scan));
  }

  /** Shows, as what happened to a row, the value for all rows of its file where there is one, and else what the file has. */
  private static void nameChange(String column, Expression ofFile, ArrayList output, ArrayList shown) {
    for (int i = 0; i < output.size(); i++) {
      AttributeReference stored = (AttributeReference) output.get(i);
      if (!stored.name().equals(column)) continue;
      AttributeReference read = (AttributeReference) stored.newInstance();
      ArrayList values = new ArrayList();
      values.add(ofFile);
      values.add(read);
      output.set(i, read);
      shown.set(i, new Alias(new Coalesce(Scala.seq(values)), column, stored.exprId(), stored.qualifier(), Scala.nothing(),
          Scala.none()));
      return;
    }
  }

  /** `_metadata.row_index`, where the plan reads it anyway: the reader fills in only one of the two. */
  private static Expression metadataRowIndex(Seq output) {
    List attributes = Scala.list(output);
    for (int i = 0; i < attributes.size(); i++) {
      AttributeReference a = (AttributeReference) attributes.get(i);
      if (!FileSourceMetadataAttribute$.MODULE$.unapply(a).isDefined() || !(a.dataType() instanceof StructType)) continue;
      StructType type = (StructType) a.dataType();
      for (int f = 0; f < type.length(); f++) {
        if (type.fields()[f].name().equals("row_index")) return new GetStructField(a, f, Scala.nothing());
      }
    }
    return null;
  }
}
