package deltaic.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.expressions.objects.AssertNotNull;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.*;
import scala.Function1;
import scala.collection.immutable.Seq;

/**
 * `_metadata.row_id` and `_metadata.row_commit_version`: what the file keeps for a row, else what follows from its action and
 * the position of the row (PROTOCOL.md, "Row Tracking"). Readers give the values that files keep, which may be null; here
 * they become those of the table. Runs in the optimizer's last batch, before DeletionVectorRule.
 */
public final class RowIdRule extends Rule {
  private static final String ROW_ID = "row_id";
  private static final String BASE = "base_row_id";
  private static final String VERSION = "row_commit_version";
  private static final String OF_FILE = "default_row_commit_version";
  private static final String ROW_INDEX = "row_index";

  /** Whether some of these fields of `_metadata` are of row tracking. */
  static boolean tells(java.util.Set fields) {
    return fields.contains(ROW_ID) || fields.contains(BASE) || fields.contains(VERSION) || fields.contains(OF_FILE);
  }

  /** The column in which files keep a field of `_metadata`, or null. */
  static String keptIn(OpenTable table, String field) {
    return field.equals(ROW_ID) ? table.rowIdColumn : field.equals(VERSION) ? table.rowVersionColumn : null;
  }

  /** What the log says of a file, as its constant metadata. */
  static scala.collection.immutable.Map ofFile(long base, long version) {
    HashMap known = new HashMap();
    if (base >= 0) known.put(BASE, Long.valueOf(base));
    if (version >= 0) known.put(OF_FILE, Long.valueOf(version));
    return Scala.immutable(known);
  }

  /** The fields of `_metadata`, these and those of row tracking; files keep values in columns of the two names. */
  static Seq fields(Seq others, String rowId, String version) {
    ArrayList all = new ArrayList(Scala.list(others));
    all.add(kept(ROW_ID, rowId, false));
    all.add(ofFile(BASE));
    all.add(ofFile(OF_FILE));
    all.add(kept(VERSION, version, false));
    return Scala.seq(all);
  }

  private static StructField kept(String name, String column, boolean nullable) {
    return FileSourceGeneratedMetadataStructField$.MODULE$.apply(name, column, LongType$.MODULE$, nullable);
  }

  private static StructField ofFile(String name) {
    return FileSourceConstantMetadataStructField$.MODULE$.apply(name, LongType$.MODULE$, true);
  }

  public TreeNode apply(TreeNode plan) {
    return (TreeNode) ((LogicalPlan) plan).transformWithSubqueries(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return unsettled(node) >= 0;
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        int at = unsettled(node);
        return at < 0 ? otherwise.apply(node) : settled((LogicalRelation) node, at);
      }
    });
  }

  /** Where a scan of ours gives row ids as its files keep them under the name of those of the table, or -1. */
  private static int unsettled(Object node) {
    if (!(node instanceof LogicalRelation)) return -1;
    LogFileIndex index = DeletionVectorRule.indexOf((LogicalRelation) node);
    if (index == null || index.table.rowIdColumn == null) return -1;
    List output = Scala.list(((LogicalRelation) node).output());
    for (int i = 0; i < output.size(); i++) {
      AttributeReference a = (AttributeReference) output.get(i);
      if (!FileSourceMetadataAttribute$.MODULE$.unapply(a).isDefined() || !(a.dataType() instanceof StructType)) continue;
      StructField[] fields = ((StructType) a.dataType()).fields();
      for (int f = 0; f < fields.length; f++) {
        boolean ours = fields[f].name().equals(ROW_ID) || fields[f].name().equals(VERSION);
        // what files keep may be null, what the table says may not
        if (ours && !fields[f].nullable()) return i;
      }
    }
    return -1;
  }

  private static LogicalPlan settled(LogicalRelation node, int at) {
    OpenTable table = DeletionVectorRule.indexOf(node).table;
    ArrayList output = new ArrayList(Scala.list(node.output()));
    ArrayList shown = new ArrayList(output);
    AttributeReference wanted = (AttributeReference) output.get(at);
    StructField[] fields = ((StructType) wanted.dataType()).fields();
    StructType read = new StructType();
    for (int i = 0; i < fields.length; i++) {
      String name = fields[i].name();
      read = read.add(name.equals(ROW_ID) ? kept(ROW_ID, table.rowIdColumn, true)
          : name.equals(VERSION) ? kept(VERSION, table.rowVersionColumn, true) : fields[i]);
    }
    List known = Scala.list(((HadoopFsRelation) node.relation()).fileFormat().metadataSchemaFields());
    for (int i = 0; i < known.size(); i++) {
      StructField field = (StructField) known.get(i);
      boolean needed = field.name().equals(ROW_INDEX) || field.name().equals(BASE) ? has(read, ROW_ID)
          : field.name().equals(OF_FILE) && has(read, VERSION);
      if (needed && !has(read, field.name())) read = read.add(field);
    }
    Expression metadata = ((AttributeReference) wanted.withDataType(read)).newInstance();
    ArrayList values = new ArrayList();
    for (int i = 0; i < fields.length; i++) {
      values.add(Literal.fromObject(org.apache.spark.unsafe.types.UTF8String.fromString(fields[i].name()), StringType$.MODULE$));
      Expression own = field(metadata, read, fields[i].name());
      if (fields[i].name().equals(ROW_ID)) {
        own = first(own, new Add(field(metadata, read, BASE), field(metadata, read, ROW_INDEX)), table);
      } else if (fields[i].name().equals(VERSION)) {
        own = first(own, field(metadata, read, OF_FILE), table);
      }
      values.add(own);
    }
    output.set(at, metadata);
    shown.set(at, new Alias(new CreateNamedStruct(Scala.seq(values)), wanted.name(), wanted.exprId(), wanted.qualifier(),
        Scala.nothing(), Scala.none()));
    LogicalRelation scan =
        new LogicalRelation(node.relation(), Scala.seq(output), node.catalogTable(), false, Scala.nothing());
    return new Project(Scala.seq(shown), scan);
  }

  private static boolean has(StructType type, String name) {
    return type.getFieldIndex(name).isDefined();
  }

  private static Expression field(Expression struct, StructType type, String name) {
    return new GetStructField(struct, type.fieldIndex(name), Scala.nothing());
  }

  private static Expression first(Expression kept, Expression fresh, OpenTable table) {
    ArrayList values = new ArrayList();
    values.add(kept);
    values.add(fresh);
    Seq what = Scala.one("row tracking of " + table.path + ": a file has no baseRowId or no defaultRowCommitVersion");
    return new AssertNotNull(new Coalesce(Scala.seq(values)), what);
  }
}
