package deltaic.spark;

import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.read.streaming.ReadAllAvailable;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadMaxFiles;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/** A table as a streaming source. The core decides where a batch ends and which files it has; Spark scans them. */
final class StreamSource implements Source, SupportsTriggerAvailableNow {
  private final SparkSession session;
  private final String path;
  private final StructType schema;
  /** By which Python knows this source. */
  private final String id = UUID.randomUUID().toString();

  StreamSource(SparkSession session, Map options, String metadataPath) {
    this.session = session;
    HashMap request = request(options, "streamOpen");
    this.path = (String) request.get("path");
    request.put("stream", id);
    request.put("metadataPath", metadataPath);
    this.schema = schemaOf((String) Python.call(request, null));
  }

  /** The schema that a stream with these options has; the options are checked. */
  static StructType schema(Map options, StructType given) {
    HashMap request = request(options, "streamSchema");
    if (given != null && given.length() > 0) request.put("given", given.json());
    return schemaOf((String) Python.call(request, null));
  }

  private static StructType schemaOf(String described) {
    return (StructType) DataType.fromJson(Python.read(described).get("schema").toString());
  }

  private static HashMap request(Map options, String op) {
    HashMap plain = SessionSettings.ofReading(OpenTable.lowerCased(options));
    Object path = plain.get("path");
    if (path == null) {
      throw Refusal.of("readStream.format(\"" + Python.format() + "\") without a path", "load(path)", "");
    }
    HashMap request = new HashMap();
    request.put("op", op);
    request.put("path", path);
    request.put("options", plain);
    Object since = plain.get("startingtimestamp");
    Long micros = since == null ? null : OpenTable.micros((String) since);
    // the first whole millisecond that is not before it
    if (micros != null) request.put("since", Long.valueOf(-Math.floorDiv(-micros.longValue(), 1000L)));
    return request;
  }

  private HashMap request(String op) {
    HashMap request = new HashMap();
    request.put("op", op);
    request.put("stream", id);
    return request;
  }

  public StructType schema() {
    return schema;
  }

  public Option getOffset() {
    throw new UnsupportedOperationException("this source has latestOffset(start, limit)");
  }

  /** As the options of the stream say. */
  private static final class OptionsLimit implements ReadLimit {}

  public ReadLimit getDefaultReadLimit() {
    return new OptionsLimit();
  }

  public org.apache.spark.sql.connector.read.streaming.Offset latestOffset(
      org.apache.spark.sql.connector.read.streaming.Offset start, ReadLimit limit) {
    HashMap request = request("streamLatest");
    request.put("start", start == null ? null : start.json());
    request.put("everything", Boolean.valueOf(limit instanceof ReadAllAvailable));
    if (limit instanceof ReadMaxFiles) request.put("maxFiles", Integer.valueOf(((ReadMaxFiles) limit).maxFiles()));
    Object latest = Python.call(request, null);
    return latest == null ? null : new StreamOffset((String) latest);
  }

  public void prepareForTriggerAvailableNow() {
    Python.call(request("streamAvailableNow"), null);
  }

  public Dataset getBatch(Option start, org.apache.spark.sql.execution.streaming.Offset end) {
    HashMap request = request("streamBatch");
    request.put("start",
        start.isEmpty() ? null : ((org.apache.spark.sql.execution.streaming.Offset) start.get()).json());
    request.put("end", end.json());
    return Frames.ofBatch(session, (String) Python.call(request, null));
  }

  /** A batch up to here is done. Where the schema of the table changes here, this ends the query. */
  public void commit(org.apache.spark.sql.execution.streaming.Offset end) {
    HashMap request = request("streamCommit");
    request.put("end", end.json());
    Python.call(request, null);
  }

  public void stop() {
    Python.call(request("streamStop"), null);
  }

  public String toString() {
    return "Delta[" + path + "]";
  }
}
