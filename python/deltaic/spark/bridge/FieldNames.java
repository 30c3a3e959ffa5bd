package deltaic.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias$;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * The rows of a write by position. Where their columns have the names of the table's and no value is cast, the fields of their
 * structs go by names: Spark gives them places, and would swap their values in silence. The query is marked before Spark
 * resolves the write, and what Spark did with such columns is taken back behind it.
 */
final class FieldNames {
  private static final String MARK = "__deltaic_rows", IN_PARTITION = "__deltaic_partition_rows";

  private FieldNames() {}

  /** The query of an INSERT by position, marked; null for another one, and for one that is marked. */
  static LogicalPlan marked(InsertIntoStatement insert) {
    LogicalPlan query = (LogicalPlan) insert.query();
    if (insert.byName() || !insert.userSpecifiedCols().isEmpty() || isMarked(query)) return null;
    return marked(query, hasValue(insert.partitionSpec()));
  }

  static LogicalPlan marked(LogicalPlan query, boolean inPartition) {
    return SubqueryAlias$.MODULE$.apply(inPartition ? IN_PARTITION : MARK, query);
  }

  /** Whether a PARTITION clause has a value, which Spark adds to the rows as a column. */
  private static boolean hasValue(scala.collection.Map spec) {
    Map given = Scala.map(spec);
    for (java.util.Iterator values = given.values().iterator(); values.hasNext(); ) {
      if (((scala.Option) values.next()).isDefined()) return true;
    }
    return false;
  }

  static boolean isMarked(LogicalPlan query) {
    return hasMark(query, MARK) || hasMark(query, IN_PARTITION) || PlacedRows.isMarked(query);
  }

  private static boolean hasMark(LogicalPlan plan, String mark) {
    return plan instanceof SubqueryAlias && ((SubqueryAlias) plan).alias().equals(mark);
  }

  /** The query of a resolved write with its structs as they were given, where their fields go by names. */
  static LogicalPlan restored(LogicalPlan query, StructType table) {
    if (!(query instanceof Project)) return query;
    Project fitted = (Project) query;
    LogicalPlan rows = fitted.child();
    LogicalPlan given = rows instanceof Project ? ((Project) rows).child() : rows;
    boolean isGiven = given == rows ? hasMark(given, MARK) || PlacedRows.isMarked(given) : hasMark(given, IN_PARTITION);
    List were = Scala.list(rows.output()), columns = Scala.list(fitted.projectList());
    StructField[] fields = table.fields();
    if (!isGiven || were.size() != fields.length || columns.size() != fields.length) return query;
    ArrayList restored = new ArrayList(columns);
    for (int i = 0; i < fields.length; i++) {
      Attribute was = (Attribute) were.get(i);
      if (!was.name().equals(fields[i].name()) || !fits(was.dataType(), fields[i].dataType())) return query;
      if (hasStruct(was.dataType())) restored.set(i, was);
    }
    return new Project(Scala.seq(restored), rows);
  }

  /** Whether values of one type need no cast to be those of another, fields of structs by their names. */
  private static boolean fits(DataType given, DataType there) {
    if (given instanceof ArrayType && there instanceof ArrayType) {
      return fits(((ArrayType) given).elementType(), ((ArrayType) there).elementType());
    }
    if (given instanceof MapType && there instanceof MapType) {
      MapType from = (MapType) given, to = (MapType) there;
      return fits(from.keyType(), to.keyType()) && fits(from.valueType(), to.valueType());
    }
    if (!(given instanceof StructType) || !(there instanceof StructType)) return given.equals(there);
    StructField[] from = ((StructType) given).fields(), to = ((StructType) there).fields();
    boolean all = from.length == to.length;
    for (int i = 0; i < to.length && all; i++) {
      boolean found = false;
      for (int k = 0; k < from.length; k++) {
        found |= from[k].name().equals(to[i].name()) && fits(from[k].dataType(), to[i].dataType());
      }
      all = found;
    }
    return all;
  }

  private static boolean hasStruct(DataType type) {
    if (type instanceof ArrayType) return hasStruct(((ArrayType) type).elementType());
    if (type instanceof MapType) return hasStruct(((MapType) type).keyType()) || hasStruct(((MapType) type).valueType());
    return type instanceof StructType;
  }
}
