package deltaic.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.util.QuotingUtils$;
import org.apache.spark.sql.connector.catalog.CatalogV2Implicits$;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.execution.datasources.parquet.ParquetUtils$;
import org.apache.spark.sql.internal.SQLConf$;
import org.apache.spark.sql.sources.*;
import org.apache.spark.sql.types.*;
import scala.Function1;
import scala.collection.immutable.Seq;

/**
 * Spark's Parquet reader under column mapping and row tracking: the plan speaks logical names, the reader physical ones, and
 * `_metadata` has row ids. Of fractional numbers it is asked only for what it does right. The closure that runs on executors
 * is Spark's own, so that these need no class of ours.
 */
public final class TableParquetFormat extends ParquetFileFormat {
  private static final String FIELD_ID_READ = "spark.sql.parquet.fieldId.read.enabled";
  private final ParquetFileFormat inner = new ParquetFileFormat();
  private final StructType logical;
  private final StructType physical;
  private final boolean byId;
  private final String rowIdColumn;
  private final String rowVersionColumn;

  /** `physical` is null without column mapping, the names of columns without row tracking. */
  TableParquetFormat(
      StructType logical, StructType physical, boolean byId, String rowIdColumn, String rowVersionColumn) {
    this.logical = logical;
    this.physical = physical;
    this.byId = byId;
    this.rowIdColumn = rowIdColumn;
    this.rowVersionColumn = rowVersionColumn;
  }

  /** Spark 4.3 makes options of Parquet for each file, to ask whether it is an archive: data files of a table are none. */
  public boolean isSplitable(
      SparkSession session, scala.collection.immutable.Map options, org.apache.hadoop.fs.Path path) {
    return true;
  }

  public Seq metadataSchemaFields() {
    Seq fields = super.metadataSchemaFields();
    return rowIdColumn == null ? fields : RowIdRule.fields(fields, rowIdColumn, rowVersionColumn);
  }

  public Function1 buildReaderWithPartitionValues(SparkSession session, StructType dataSchema, StructType partitionSchema,
      StructType requiredSchema, Seq filters, scala.collection.immutable.Map options, Configuration conf) {
    Seq safe = FilterPushDown.safe(filters);
    if (physical == null) {
      return inner.buildReaderWithPartitionValues(
          session, dataSchema, partitionSchema, requiredSchema, safe, options, conf);
    }
    StructType required = (StructType) rename(requiredSchema, logical, physical);
    SparkSession reading = session;
    if (byId) {
      conf.setBoolean(FIELD_ID_READ, true);
      // Spark's row-by-row reader takes the setting from the session instead, and would match by name
      if (!isVectorized(session, required) && !"true".equals(session.conf().get(FIELD_ID_READ, "false"))) {
        reading = vectorized(session, required);
      }
    }
    ArrayList pushed = new ArrayList();
    List all = Scala.list(safe);
    for (int i = 0; i < all.size(); i++) {
      Filter filter = rename((Filter) all.get(i));
      if (filter != null) pushed.add(filter);
    }
    return inner.buildReaderWithPartitionValues(reading, (StructType) rename(dataSchema, logical, physical),
        partitionSchema, required, Scala.seq(pushed), options, conf);
  }

  private static boolean isVectorized(SparkSession session, StructType required) {
    return ParquetUtils$.MODULE$.isBatchReadSupportedForSchema(
        ((org.apache.spark.sql.classic.SparkSession) session).sessionState().conf(), required);
  }

  /** A session like this one, in which Spark reads these columns by its vectorized reader; it gives rows all the same. */
  private static SparkSession vectorized(SparkSession session, StructType required) {
    SparkSession like = ((org.apache.spark.sql.classic.SparkSession) session).cloneSession();
    like.conf().set(SQLConf$.MODULE$.PARQUET_VECTORIZED_READER_ENABLED().key(), "true");
    like.conf().set(SQLConf$.MODULE$.PARQUET_VECTORIZED_READER_NESTED_COLUMN_ENABLED().key(), "true");
    if (!isVectorized(like, required)) {
      throw Refusal.of("reading this table by column id without Spark's vectorized Parquet reader",
          "set " + FIELD_ID_READ + "=true in the session", "");
    }
    return like;
  }

  /** `type`, a part of `l`, in the names and with the field ids of `p`. */
  private static DataType rename(DataType type, DataType l, DataType p) {
    // of a variant Spark may ask for a struct of what a query takes of it: its names are those of the query
    if (type instanceof StructType && l instanceof StructType) {
      StructField[] fields = ((StructType) type).fields();
      StructField[] out = new StructField[fields.length];
      for (int i = 0; i < out.length; i++) {
        int at = indexOf((StructType) l, fields[i].name());
        if (at < 0) {
          out[i] = fields[i];  // a column that Spark generates, such as the row index
          continue;
        }
        StructField there = ((StructType) p).fields()[at];
        DataType inside = rename(fields[i].dataType(), ((StructType) l).fields()[at].dataType(), there.dataType());
        out[i] = new StructField(there.name(), inside, fields[i].nullable(), there.metadata());
      }
      return new StructType(out);
    }
    if (type instanceof ArrayType) {
      ArrayType array = (ArrayType) type;
      return new ArrayType(rename(array.elementType(), ((ArrayType) l).elementType(), ((ArrayType) p).elementType()),
          array.containsNull());
    }
    if (type instanceof MapType) {
      MapType map = (MapType) type;
      return new MapType(rename(map.keyType(), ((MapType) l).keyType(), ((MapType) p).keyType()),
          rename(map.valueType(), ((MapType) l).valueType(), ((MapType) p).valueType()), map.valueContainsNull());
    }
    return type;
  }

  private static int indexOf(StructType type, String name) {
    for (int i = 0; i < type.length(); i++) if (type.fields()[i].name().equals(name)) return i;
    return -1;
  }

  /** The physical spelling of a dotted, quoted column name, or null. */
  private String rename(String dotted) {
    DataType l = logical;
    DataType p = physical;
    List parts = Scala.list(CatalogV2Implicits$.MODULE$.parseColumnPath(dotted));
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < parts.size(); i++) {
      if (!(l instanceof StructType)) return null;
      int at = indexOf((StructType) l, (String) parts.get(i));
      if (at < 0) return null;
      if (i > 0) out.append('.');
      out.append(QuotingUtils$.MODULE$.quoteIfNeeded(((StructType) p).fields()[at].name()));
      l = ((StructType) l).fields()[at].dataType();
      p = ((StructType) p).fields()[at].dataType();
    }
    return out.toString();
  }

  /** A filter that holds wherever `f` holds, in physical names, or null. */
  private Filter rename(Filter f) {
    if (f instanceof And) {
      Filter left = rename(((And) f).left());
      Filter right = rename(((And) f).right());
      return left == null ? right : right == null ? left : new And(left, right);
    }
    if (f instanceof Or) {
      Filter left = rename(((Or) f).left());
      Filter right = rename(((Or) f).right());
      return left == null || right == null ? null : new Or(left, right);
    }
    if (f instanceof Not) {
      Filter child = ((Not) f).child();
      // half of a conjunction may be lost above: its negation would be too strong
      if (child instanceof And || child instanceof Or || child instanceof Not) return null;
      Filter renamed = rename(child);
      return renamed == null ? null : new Not(renamed);
    }
    String[] references = f.references();
    if (references.length != 1) return null;
    String name = rename(references[0]);
    if (name == null) return null;
    if (f instanceof EqualTo) return new EqualTo(name, ((EqualTo) f).value());
    if (f instanceof EqualNullSafe) return new EqualNullSafe(name, ((EqualNullSafe) f).value());
    if (f instanceof GreaterThan) return new GreaterThan(name, ((GreaterThan) f).value());
    if (f instanceof GreaterThanOrEqual) return new GreaterThanOrEqual(name, ((GreaterThanOrEqual) f).value());
    if (f instanceof LessThan) return new LessThan(name, ((LessThan) f).value());
    if (f instanceof LessThanOrEqual) return new LessThanOrEqual(name, ((LessThanOrEqual) f).value());
    if (f instanceof In) return new In(name, ((In) f).values());
    if (f instanceof IsNull) return new IsNull(name);
    if (f instanceof IsNotNull) return new IsNotNull(name);
    if (f instanceof StringStartsWith) return new StringStartsWith(name, ((StringStartsWith) f).value());
    if (f instanceof StringEndsWith) return new StringEndsWith(name, ((StringEndsWith) f).value());
    if (f instanceof StringContains) return new StringContains(name, ((StringContains) f).value());
    return null;
  }

  public boolean equals(Object other) {
    if (!(other instanceof TableParquetFormat)) return false;
    TableParquetFormat format = (TableParquetFormat) other;
    return byId == format.byId && logical.equals(format.logical) && Objects.equals(physical, format.physical)
        && Objects.equals(rowIdColumn, format.rowIdColumn);
  }

  public int hashCode() {
    return logical.hashCode();
  }
}
