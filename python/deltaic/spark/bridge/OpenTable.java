package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StringType$;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampType$;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;

/** One version of a table: what the core says about it without reading file actions. Immutable. */
final class OpenTable {
  private static final String CLUSTERING = "delta.feature.clustering";
  private static final String OUT_OF_RANGE = "spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled";
  /** As the user wrote it. */
  final String path;
  /** Percent-encoded, as Spark spells it. */
  final String uri;
  final long version;
  /** Differs whenever the content may differ. */
  final String identity;
  final StructType schema;
  /** The columns that the table makes values of. */
  final List made;
  /** Names and field ids in the files, or null where they are the logical ones. */
  final StructType physical;
  final boolean byId;
  final List partitionColumns;
  final Map properties;
  /** The protocol, as properties of a table are shown. */
  final Map protocol;
  /** Whether files may have deletion vectors. */
  final boolean deletionVectors;
  final boolean timeTravel;
  /** Whether only the files of some partitions are read: the path is a folder of theirs. */
  final boolean partial;
  /** The predicate (JSON) of these partitions, or null. */
  private final String partition;
  /**
   * Of changes: the column that says what happened to a row. Files have it, or a value for all of their rows, which is the
   * last one of the partition values of the list. Null for a table.
   */
  final String changeType;
  /** Of changes: whether those of later versions are included. */
  private final boolean openEnded;
  /** The columns in which files keep row ids and row commit versions, or null where rows have none. */
  final String rowIdColumn;
  final String rowVersionColumn;
  /** Whether a command claims what its scans read of this version. */
  final boolean claimed;
  /** What the core said: the columns by which a query was analyzed. */
  private final String facts;
  /** How the core finds this version again, or Python the files that the owner of a frame holds. */
  private final Map reopen;

  private OpenTable(String path, String json, Map reopen) {
    this.path = path;
    this.facts = json;
    JsonNode facts = Python.read(json);
    this.uri = facts.get("uri").asText();
    this.version = facts.get("version").asLong();
    this.identity = facts.get("identity").asText();
    this.schema = RuleTrees.withDefaults(
        (StructType) DataType.fromJson(facts.get("schema").toString()), facts.get("unprintedDefaults"));
    this.made = new ArrayList();
    JsonNode made = facts.get("made");
    if (made != null) for (Iterator i = made.fieldNames(); i.hasNext(); ) this.made.add(i.next());
    JsonNode mapped = facts.get("physical");
    this.physical = mapped == null || mapped.isNull() ? null : (StructType) DataType.fromJson(mapped.toString());
    this.byId = facts.get("mapping").asText().equals("id");
    this.partitionColumns = new ArrayList();
    for (Iterator i = facts.get("partitionColumns").elements(); i.hasNext(); ) {
      this.partitionColumns.add(((JsonNode) i.next()).asText());
    }
    this.properties = texts(facts.get("properties"));
    this.protocol = texts(facts.get("protocolProperties"));
    this.deletionVectors = facts.get("deletionVectors").asBoolean();
    this.timeTravel = facts.get("timeTravel").asBoolean();
    this.partial = facts.has("partition");
    this.partition = this.partial ? facts.get("partition").asText() : null;
    JsonNode changeType = facts.get("changeType");
    this.changeType = changeType == null ? null : changeType.asText();
    JsonNode claimed = facts.get("claimed");
    this.claimed = claimed != null && claimed.asBoolean();
    JsonNode tracking = facts.get("rowTracking");
    boolean tracked = tracking != null && !tracking.isNull();
    this.rowIdColumn = tracked ? tracking.get("rowId").asText() : null;
    this.rowVersionColumn = tracked ? tracking.get("rowCommitVersion").asText() : null;
    this.reopen = reopen;
    if (this.changeType != null) this.reopen.put("changes", facts.get("changes"));
    JsonNode range = facts.get("changes");
    JsonNode open = range == null ? null : range.get("open");
    this.openEnded = open != null && open.asBoolean();
    if (this.partial) this.reopen.put("partition", this.partition);
    if (facts.has("held")) this.reopen.put("held", Boolean.TRUE);
    this.reopen.put("uri", facts.get("uri").asText());
    this.reopen.put("version", Long.valueOf(this.version));
    this.reopen.put("identity", this.identity);
  }

  /** Another version, read with the columns of this one: a query was analyzed with them. */
  private OpenTable(OpenTable analyzed, OpenTable other, boolean claimed) {
    path = analyzed.path;
    facts = analyzed.facts;
    schema = analyzed.schema;
    made = analyzed.made;
    physical = analyzed.physical;
    byId = analyzed.byId;
    partitionColumns = analyzed.partitionColumns;
    changeType = analyzed.changeType;
    openEnded = false;
    rowIdColumn = analyzed.rowIdColumn;
    rowVersionColumn = analyzed.rowVersionColumn;
    partial = analyzed.partial;
    partition = analyzed.partition;
    uri = other.uri;
    version = other.version;
    identity = analyzed.identityAt(other);
    properties = other.properties;
    deletionVectors = other.deletionVectors;
    timeTravel = other.timeTravel;
    reopen = new HashMap(other.reopen);
    reopen.put("identity", identity);
    if (partial) reopen.put("partition", partition);
    this.claimed = claimed;
  }

  /** The identity that this table, which may be a part, has in a version of the whole. */
  String identityAt(OpenTable version) {
    return partial ? version.identity + " " + partition : version.identity;
  }

  /**
   * The files of another version for a query that was analyzed with this one. The core refuses a version whose columns no
   * longer fit.
   */
  OpenTable at(OpenTable other) {
    if (identity.equals(identityAt(other))) return this;
    return new OpenTable(this, other.fits(this), false);
  }

  /** As `at`, of a version whose scans a command claims. */
  OpenTable claimedAt(OpenTable other) {
    return new OpenTable(this, other.fits(this), true);
  }

  private OpenTable fits(OpenTable analyzed) {
    if (!facts.equals(analyzed.facts)) {
      HashMap request = request("fits");
      request.put("analyzed", analyzed.facts);
      Python.call(request, null);
    }
    return this;
  }

  /** Whether scans read the newest version, or the changes up to it, and not what was asked for. */
  boolean isLive() {
    return changeType == null ? !timeTravel : openEnded;
  }

  /** Whether the log alone says what the files are: these are neither changes nor files that the owner of a frame holds. */
  boolean isOfLog() {
    return changeType == null && !reopen.containsKey("held");
  }

  /** Whether these are the same rows, whatever the version, read by the same options. */
  boolean isSameAs(OpenTable other) {
    return reading().equals(other.reading()) && java.util.Objects.equals(partition, other.partition);
  }

  /**
   * The place, and the options by which the table is read: credentials, what is checked, where its files may be. What one
   * reading may see another one may be refused.
   */
  String reading() {
    TreeMap options = new TreeMap((Map) reopen.get("options"));
    options.remove("path");
    return place() + "\n" + options;
  }

  /** The table whatever its version and however its URI is spelled; `s3`, `s3a` and `s3n` are one store. */
  String place() {
    return place(uri);
  }

  static String place(String uri) {
    return uri.replaceFirst("^s3[an]://", "s3://").replaceFirst("^file:///", "file:/");
  }

  /** The newest version of the whole table, or the changes up to it; this one where it is that. */
  OpenTable newest() {
    HashMap request = request("newest");
    if (partial) {
      request.remove("partition");
      request.put("identity", "");
    }
    return answered(request);
  }

  private OpenTable answered(HashMap request) {
    String answer = (String) Python.call(request, null);
    return answer == null ? this : of(path, answer, (Map) reopen.get("options"));
  }

  /** The whole table in another version, or the changes up to it, by the options of this one. */
  OpenTable inVersion(long version) {
    if (changeType != null) {
      HashMap request = request("newest");
      request.put("until", Long.valueOf(version));
      return answered(request);
    }
    return version == this.version && !partial ? this : open(uri, (Map) reopen.get("options"), Long.toString(version), null);
  }

  /** What the core says of a version that Python has open. */
  static OpenTable of(String path, String json, Map options) {
    HashMap reopen = new HashMap();
    reopen.put("options", options);
    return new OpenTable(path, json, reopen);
  }

  /** Some files of a version, for a frame: `facts` names the path, and Python holds what answers for them. */
  static OpenTable held(JsonNode facts) {
    return of(facts.get("path").asText(), facts.toString(), texts(facts.get("options")));
  }

  /**
   * Opens a table. `version` and `micros` come from SQL, `options` from the reader; Python refuses what contradicts
   * itself.
   */
  static OpenTable open(String path, Map options, String version, Long micros) {
    return open(path, options, version, micros, false);
  }

  /** The same; `target` says that a command asks for its target. */
  static OpenTable open(String path, Map options, String version, Long micros, boolean target) {
    HashMap request = new HashMap();
    request.put("target", Boolean.valueOf(target));
    HashMap plain = SessionSettings.ofReading(lowerCased(options));
    request.put("op", "open");
    request.put("path", path);
    request.put("options", plain);
    if (version != null) request.put("version", version);
    if (micros != null) request.put("timestamp", Long.valueOf(Math.floorDiv(micros.longValue(), 1000L)));
    request.put("timestampOption", millis(plain.get("timestampasof")));
    request.put("startingTimestampOption", millis(plain.get("startingtimestamp")));
    request.put("endingTimestampOption", millis(plain.get("endingtimestamp")));
    request.put("changesOutOfRange", SparkSession.active().conf().get(OUT_OF_RANGE, "false"));
    OpenTable opened = of(path, (String) Python.call(request, null), plain);
    if (opened.isLive() && !opened.partial) Versions.learn(opened);
    return opened;
  }

  /** The texts of a JSON object, which may be missing. */
  private static HashMap texts(JsonNode object) {
    HashMap found = new HashMap();
    if (object == null) return found;
    for (Iterator i = object.fieldNames(); i.hasNext(); ) {
      String key = (String) i.next();
      found.put(key, object.get(key).asText());
    }
    return found;
  }

  /** Options with their names in lower case. */
  static HashMap lowerCased(Map options) {
    HashMap plain = new HashMap();
    for (Iterator i = options.entrySet().iterator(); i.hasNext(); ) {
      Map.Entry e = (Map.Entry) i.next();
      plain.put(String.valueOf(e.getKey()).toLowerCase(Locale.ROOT), String.valueOf(e.getValue()));
    }
    return plain;
  }

  /** Milliseconds of a text, as Spark casts it in the session's time zone, or null. */
  private static Long millis(Object text) {
    Long micros = text == null ? null : micros((String) text);
    return micros == null ? null : Long.valueOf(Math.floorDiv(micros.longValue(), 1000L));
  }

  /** Microseconds of a text, as Spark casts it in the session's time zone, or null. */
  static Long micros(String text) {
    Literal literal = new Literal(UTF8String.fromString(text), StringType$.MODULE$);
    String zone = SparkSession.active().conf().get("spark.sql.session.timeZone");
    Object value = new Cast(literal, TimestampType$.MODULE$, Option.apply(zone), EvalMode$.MODULE$.LEGACY()).eval(null);
    return (Long) value;
  }

  /** The clustering columns of this version, as SQL names columns. */
  List clusteringColumns() {
    ArrayList out = new ArrayList();
    if (!protocol.containsKey(CLUSTERING)) return out;
    for (Iterator i = definition().get("clusteringColumns").elements(); i.hasNext(); ) out.add(((JsonNode) i.next()).asText());
    return out;
  }

  /** The description of this version, or null. */
  String comment() {
    JsonNode said = definition().get("description");
    return said.isNull() ? null : said.asText();
  }

  /** How SQL says that the values of the columns are made that the table makes, by name. */
  JsonNode madeColumns() {
    return definition().get("made");
  }

  private JsonNode definition() {
    return Python.read((String) Python.call(request("definition"), null));
  }

  /** A request of `op` about this version. */
  HashMap request(String op) {
    HashMap request = new HashMap(reopen);
    request.put("op", op);
    return request;
  }

  boolean isPartitionColumn(String name) {
    return partitionColumns.contains(name);
  }

  StructType partitionSchema() {
    StructField[] fields = new StructField[partitionColumns.size()];
    for (int i = 0; i < fields.length; i++) fields[i] = schema.apply((String) partitionColumns.get(i));
    return new StructType(fields);
  }

  /** The partition values of the file lists. */
  StructType listedSchema() {
    StructType schema = partitionSchema();
    return changeType == null ? schema : schema.add(LogFileIndex.CHANGE, StringType$.MODULE$, true);
  }

  /** What the options of the reading say of the store, by Hadoop's names: Spark reads data files by Hadoop. */
  private Map hadoopSettings(SparkSession session) {
    if (uri.startsWith("file:")) return new HashMap();
    HashMap request = request("hadoopSettings");
    request.put("given", request.remove("options"));
    HashMap settings = texts(Python.read((String) Python.call(request, null)));
    settings.putAll(StoreSettings.fileSystem(session, uri));
    return settings;
  }

  /**
   * A native Parquet relation over exactly the files of this version, or of the newest one of each query. Its data schema has the partition columns too: so
   * Spark keeps them in the table's order instead of putting them last. The core reads the files where Hadoop cannot.
   */
  HadoopFsRelation relation(SparkSession session) {
    boolean ofCore = !HadoopFiles.has(session, uri);
    FileFormat format = ofCore ? new CoreFormat(rowIdColumn, rowVersionColumn)
        : physical == null && rowIdColumn == null && !FilterPushDown.concerns(schema)
        ? new ParquetFileFormat()
        : new TableParquetFormat(schema, physical, byId, rowIdColumn, rowVersionColumn);
    return new HadoopFsRelation(
        new LogFileIndex(this, FileLists.of(session, this), null, false, isLive()),
        partitionSchema(), schema, Scala.nothing(), format,
        ofCore ? Scala.emptyMap() : Scala.immutable(hadoopSettings(session)), session);
  }
}
