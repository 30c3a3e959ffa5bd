package deltaic.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.IdentityColumnSpec;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** What statements say of a table, in the form of a request. */
final class TableChanges {
  private TableChanges() {}

  /** Columns of a new table as the JSON of a schema. */
  static String schema(Column[] columns) {
    StructField[] fields = CatalogV2Util.v2ColumnsToStructType(columns).fields();
    for (int i = 0; i < fields.length; i++) fields[i] = complete(fields[i], columns[i]);
    return stored(new StructType(fields)).json();
  }

  /** With how its values are made, which Spark 4.0 leaves out. */
  private static StructField complete(StructField field, Column column) {
    MetadataBuilder said = new MetadataBuilder().withMetadata(field.metadata());
    if (column.generationExpression() != null) {
      said.putString("GENERATION_EXPRESSION", column.generationExpression());
    }
    IdentityColumnSpec identity = column.identityColumnSpec();
    if (identity != null) {
      said.putLong("identity.start", identity.getStart());
      said.putLong("identity.step", identity.getStep());
      said.putBoolean("identity.allowExplicitInsert", identity.isAllowExplicitInsert());
    }
    return new StructField(field.name(), field.dataType(), field.nullable(), said.build());
  }

  /** As tables keep them: `char` and `varchar` are strings with a note. */
  private static StructType stored(StructType schema) {
    return CharVarcharUtils.replaceCharVarcharWithStringInSchema(schema);
  }

  /** Each partition transform by name and columns. */
  static List partitioning(Transform[] transforms) {
    ArrayList out = new ArrayList();
    for (int i = 0; i < transforms.length; i++) {
      HashMap one = new HashMap();
      one.put("name", transforms[i].name());
      one.put("columns", paths(transforms[i].references()));
      one.put("text", transforms[i].describe());
      out.add(one);
    }
    return out;
  }

  private static List paths(NamedReference[] references) {
    ArrayList out = new ArrayList();
    for (int i = 0; i < references.length; i++) out.add(Arrays.asList((Object[]) references[i].fieldNames()));
    return out;
  }

  /** The changes of ALTER TABLE. An unknown one is passed by its class name, and Python refuses it. */
  static List of(TableChange[] changes) {
    ArrayList out = new ArrayList();
    for (int i = 0; i < changes.length; i++) out.add(of(changes[i]));
    return out;
  }

  private static HashMap of(TableChange change) {
    HashMap out = new HashMap();
    out.put("kind", change.getClass().getSimpleName());
    if (change instanceof TableChange.SetProperty) {
      out.put("key", ((TableChange.SetProperty) change).property());
      out.put("value", ((TableChange.SetProperty) change).value());
    }
    if (change instanceof TableChange.RemoveProperty) {
      out.put("key", ((TableChange.RemoveProperty) change).property());
    }
    if (change instanceof TableChange.ClusterBy) {
      out.put("columns", paths(((TableChange.ClusterBy) change).clusteringColumns()));
    }
    if (change instanceof TableChange.ColumnChange) {
      out.put("column", Arrays.asList((Object[]) ((TableChange.ColumnChange) change).fieldNames()));
    }
    if (change instanceof TableChange.AddColumn) {
      TableChange.AddColumn add = (TableChange.AddColumn) change;
      // a name that is not of the whole path, which is in `column`
      String name = add.fieldNames()[add.fieldNames().length - 1];
      out.put("field", schema(new Column[] {
          Column.create(name, add.dataType(), add.isNullable(), add.comment(), add.defaultValue(), null)}));
      place(out, add.position());
    }
    if (change instanceof TableChange.RenameColumn) {
      out.put("to", ((TableChange.RenameColumn) change).newName());
    }
    if (change instanceof TableChange.UpdateColumnType) {
      TableChange.UpdateColumnType update = (TableChange.UpdateColumnType) change;
      out.put("field", stored(new StructType().add("column", update.newDataType())).json());
    }
    if (change instanceof TableChange.UpdateColumnNullability) {
      out.put("nullable", Boolean.valueOf(((TableChange.UpdateColumnNullability) change).nullable()));
    }
    if (change instanceof TableChange.UpdateColumnComment) {
      out.put("comment", ((TableChange.UpdateColumnComment) change).newComment());
    }
    if (change instanceof TableChange.UpdateColumnDefaultValue) {
      String given = ((TableChange.UpdateColumnDefaultValue) change).newDefaultValue();
      out.put("default", given == null ? "" : given);
    }
    if (change instanceof TableChange.UpdateColumnPosition) {
      place(out, ((TableChange.UpdateColumnPosition) change).position());
    }
    if (change instanceof TableChange.DeleteColumn) {
      out.put("ifExists", ((TableChange.DeleteColumn) change).ifExists());
    }
    return out;
  }

  private static void place(HashMap out, TableChange.ColumnPosition position) {
    if (position instanceof TableChange.First) out.put("first", Boolean.TRUE);
    if (position instanceof TableChange.After) out.put("after", ((TableChange.After) position).column());
  }
}
