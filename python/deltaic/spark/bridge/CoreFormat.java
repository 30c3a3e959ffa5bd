package deltaic.spark;

import java.util.Objects;
import org.apache.hadoop.mapreduce.Job;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;

/**
 * Marks a relation whose files the core reads, because Hadoop has no file system for them. Its `_metadata` is that of a
 * native scan. CoreReads plans it; no reader or writer of Spark's is ever asked for.
 */
public final class CoreFormat implements FileFormat, DataSourceRegister {
  private final String rowIdColumn;
  private final String rowVersionColumn;

  /** The columns in which files keep row ids and versions, or null. */
  CoreFormat(String rowIdColumn, String rowVersionColumn) {
    this.rowIdColumn = rowIdColumn;
    this.rowVersionColumn = rowVersionColumn;
  }

  public String shortName() {
    return Python.format();
  }

  public Seq metadataSchemaFields() {
    Seq fields = new ParquetFileFormat().metadataSchemaFields();
    return rowIdColumn == null ? fields : RowIdRule.fields(fields, rowIdColumn, rowVersionColumn);
  }

  public Option inferSchema(SparkSession session, scala.collection.immutable.Map options, Seq files) {
    return Option.empty();
  }

  public OutputWriterFactory prepareWrite(
      SparkSession session, Job job, scala.collection.immutable.Map options, StructType schema) {
    throw new UnsupportedOperationException("the core writes these files");
  }

  public boolean equals(Object other) {
    return other instanceof CoreFormat && Objects.equals(rowIdColumn, ((CoreFormat) other).rowIdColumn);
  }

  public int hashCode() {
    return Objects.hashCode(rowIdColumn);
  }
}
