package deltaic.spark;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.sources.CreatableRelationProvider;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.sources.RelationProvider;
import org.apache.spark.sql.sources.StreamSinkProvider;
import org.apache.spark.sql.sources.StreamSourceProvider;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.Seq;

/**
 * The format. Being a TableProvider makes statements that name a table go to the catalog; `read` and `write` with a path
 * fall back to the V1 interfaces, because the placeholder table has no capabilities.
 */
public final class DeltaSource
    implements DataSourceRegister, RelationProvider, CreatableRelationProvider, StreamSourceProvider, StreamSinkProvider,
        TableProvider, SaveAsTable {
  public String shortName() {
    return Python.format();
  }

  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return new StructType();
  }

  public Table getTable(StructType schema, Transform[] partitioning, Map properties) {
    Object home = Home.source();
    if (home != null) return ((TableProvider) home).getTable(schema, partitioning, properties);
    return new DeltaTable(schema == null ? new StructType() : schema);
  }

  public boolean supportsExternalMetadata() {
    return true;
  }

  public BaseRelation createRelation(SQLContext context, scala.collection.immutable.Map parameters) {
    Object home = Home.source();
    if (home != null) return ((RelationProvider) home).createRelation(context, parameters);
    Map options = new HashMap(Scala.map(parameters));
    Object path = options.get("path");
    if (path == null) {
      throw Refusal.of("reading format \"" + Python.format() + "\" without exactly one path", "load(path)", "");
    }
    return OpenTable.open((String) path, options, null, null).relation(context.sparkSession());
  }

  /** The core names what it does not write. */
  public boolean supportsDataType(DataType type) {
    return true;
  }

  /** Hands mode, options and rows to Python. Spark asks for a relation back, but only to look for stale caches. */
  public BaseRelation createRelation(
      SQLContext context, SaveMode mode, scala.collection.immutable.Map parameters, Dataset data) {
    Object home = Home.source();
    if (home != null) return ((CreatableRelationProvider) home).createRelation(context, mode, parameters, data);
    HashMap request = new HashMap();
    request.put("op", "save");
    request.put("mode", mode.toString().toLowerCase(java.util.Locale.ROOT));
    request.put("options", new HashMap(Scala.map(parameters)));
    Python.call(request, data);
    final SQLContext c = context;
    final StructType schema = data.schema();
    return new BaseRelation() {
      public SQLContext sqlContext() {
        return c;
      }

      public StructType schema() {
        return schema;
      }
    };
  }

  public Tuple2 sourceSchema(
      SQLContext context, Option schema, String provider, scala.collection.immutable.Map parameters) {
    Object home = Home.source();
    if (home != null) return ((StreamSourceProvider) home).sourceSchema(context, schema, provider, parameters);
    StructType given = schema.isEmpty() ? null : (StructType) schema.get();
    return new Tuple2(Python.format(), StreamSource.schema(Scala.map(parameters), given));
  }

  public Source createSource(
      SQLContext context,
      String metadataPath,
      Option schema,
      String provider,
      scala.collection.immutable.Map parameters) {
    Object home = Home.source();
    if (home != null) {
      return ((StreamSourceProvider) home).createSource(context, metadataPath, schema, provider, parameters);
    }
    return new StreamSource(context.sparkSession(), Scala.map(parameters), metadataPath);
  }

  public Sink createSink(
      SQLContext context, scala.collection.immutable.Map parameters, Seq partitionColumns, OutputMode mode) {
    Object home = Home.source();
    if (home != null) return ((StreamSinkProvider) home).createSink(context, parameters, partitionColumns, mode);
    return new StreamSink(Scala.map(parameters), partitionColumns, mode);
  }
}
