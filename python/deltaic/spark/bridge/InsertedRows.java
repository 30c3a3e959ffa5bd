package deltaic.spark;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * The rows of a write as the writer takes them: with the names and types of the table. By position, the fields of structs go by
 * their names where the columns have the table's and no value is cast, and by their places else. What the table lacks stays:
 * the writer adds it, or refuses.
 */
final class InsertedRows {
  private static final String AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled";
  private static final String NULLS = "spark.sql.defaultColumn.useNullsForMissingDefaultValues";

  private InsertedRows() {}

  static LogicalPlan of(V2WriteCommand write, DeltaTable target, Map options) {
    SparkSession session = SparkSession.active();
    StructType table = target.table.schema;
    LogicalPlan query = (LogicalPlan) write.query();
    if (target.listed > 0) query = ListedRows.of(query, table, target.listed);
    boolean evolves = evolves(session, target, options);
    boolean widens = evolves && "true".equals(target.table.properties.get("delta.enableTypeWidening"));
    if (!write.isByName()) return byPlace(session, query, target, widens);
    if ("true".equalsIgnoreCase(option(options, "overwriteSchema"))) return query;
    LogicalPlan fitted = FittedRows.of(session, query, table, widens);
    // a statement, which may leave out columns, but no fields
    if (!((LogicalPlan) write).origin().sqlText().isEmpty()) check(session, query, target, evolves, query != fitted);
    return fitted;
  }

  private static boolean evolves(SparkSession session, DeltaTable target, Map options) {
    String said = option(options, "mergeSchema");
    return target.evolves || (said == null ? autoMerge(session) : "true".equalsIgnoreCase(said));
  }

  /** Whether the session lets writes add columns. */
  static boolean autoMerge(SparkSession session) {
    return "true".equalsIgnoreCase(session.conf().get(AUTO_MERGE, "false"));
  }

  private static String option(Map options, String wanted) {
    for (Iterator names = options.keySet().iterator(); names.hasNext(); ) {
      String name = (String) names.next();
      if (name.equalsIgnoreCase(wanted)) return String.valueOf(options.get(name));
    }
    return null;
  }

  private static LogicalPlan byPlace(SparkSession session, LogicalPlan query, DeltaTable table, boolean widens) {
    List given = Scala.list(query.output());
    StructField[] fields = table.table.schema.fields();
    if (given.size() < fields.length) {
      throw Refusal.ofFewRows(table, "not enough data columns", fields.length, given.size());
    }
    boolean fit = true;
    for (int i = 0; i < fields.length && fit; i++) {
      NamedExpression column = (NamedExpression) given.get(i);
      fit = column.name().equals(fields[i].name()) && fits(((Expression) column).dataType(), fields[i].dataType(), widens);
    }
    return fit ? query : FittedRows.byPlace(session, query, table, widens);
  }

  /** Whether values of one type need no cast to be those of another, fields of structs by their names. */
  static boolean fits(DataType given, DataType there, boolean widens) {
    if (given instanceof ArrayType && there instanceof ArrayType) {
      return fits(((ArrayType) given).elementType(), ((ArrayType) there).elementType(), widens);
    }
    if (given instanceof MapType && there instanceof MapType) {
      MapType from = (MapType) given, to = (MapType) there;
      return fits(from.keyType(), to.keyType(), widens) && fits(from.valueType(), to.valueType(), widens);
    }
    if (!(given instanceof StructType) || !(there instanceof StructType)) {
      return given.equals(there) || there instanceof NullType || widens && FittedRows.widens(there, given);
    }
    StructField[] from = ((StructType) given).fields(), to = ((StructType) there).fields();
    for (int i = 0; i < to.length; i++) {
      boolean found = false;
      for (int k = 0; k < from.length; k++) {
        found |= from[k].name().equals(to[i].name()) && fits(from[k].dataType(), to[i].dataType(), widens);
      }
      if (!found) return false;
    }
    return true;
  }

  private static void check(SparkSession session, LogicalPlan query, DeltaTable target, boolean evolves, boolean casts) {
    StructType rows = query.schema(), table = target.table.schema;
    StructField[] fields = table.fields();
    boolean nulls = "true".equalsIgnoreCase(session.conf().get(NULLS, "true"));
    for (int i = 0; i < fields.length; i++) {
      StructField given = FittedRows.field(rows, fields[i].name());
      if (given != null) {
        checkFields(given.dataType(), fields[i].dataType(), fields[i].name(), target);
      } else if (!nulls && !hasValue(fields[i], target)) {
        throw Refusal.ofRows(target.table.path, "the rows lack `" + fields[i].name() + "`, which has no default",
            "DELTA_INSERT_COLUMN_MISMATCH", new String[] {"columnName", fields[i].name()});
      }
    }
    if (casts && !evolves && rows.fields().length > fields.length) {
      String[] names = {"tableName", target.name(), "tableColumns", String.join(", ", table.fieldNames()),
          "dataColumns", String.join(", ", rows.fieldNames())};
      throw Refusal.ofRows(target.table.path, "the rows have more columns than the table",
          "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS", names);
    }
  }

  /** Whether a column has values of its own where rows have none. */
  private static boolean hasValue(StructField field, DeltaTable target) {
    return target.table.made.contains(field.name()) || field.metadata().contains("CURRENT_DEFAULT");
  }

  private static void checkFields(DataType given, DataType there, String name, DeltaTable table) {
    if (given instanceof ArrayType && there instanceof ArrayType) {
      checkFields(((ArrayType) given).elementType(), ((ArrayType) there).elementType(), name, table);
    } else if (given instanceof MapType && there instanceof MapType) {
      checkFields(((MapType) given).keyType(), ((MapType) there).keyType(), name, table);
      checkFields(((MapType) given).valueType(), ((MapType) there).valueType(), name, table);
    } else if (given instanceof StructType && there instanceof StructType) {
      StructType rows = (StructType) given;
      StructField[] fields = ((StructType) there).fields();
      for (int i = 0; i < fields.length; i++) {
        StructField found = FittedRows.field(rows, fields[i].name());
        if (found == null) {
          throw Refusal.ofFewRows(table, "not enough nested fields in " + name, fields.length, rows.fields().length);
        }
        checkFields(found.dataType(), fields[i].dataType(), name + "." + fields[i].name(), table);
      }
    }
  }
}
