package deltaic.spark;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StringType$;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;

/**
 * The file lists of one version of a table: asked for when Spark plans a scan, never before. All relations of a version
 * share one of these, so that the same question is answered once and a deletion vector is broadcast once.
 */
final class FileLists {
  private static final int REMEMBERED = 4;
  private static final long UNASKED = Long.MIN_VALUE;
  private static final long NO_LIMIT = -1;
  private static final long BLOCK = 128L * 1024 * 1024;
  private static final HashMap SHARED = new HashMap();

  private final OpenTable table;
  private final SparkSession session;
  /** Rows that are enough, or NO_LIMIT. */
  private final long limit;
  private final LinkedHashMap remembered = new LinkedHashMap(8, 0.75f, true);
  private long size = -1;
  private long rows = UNASKED;
  private Boolean vectors;
  /** Code of each deletion vector that was broadcast, by file (see DeletedRows). */
  private final HashMap codes = new HashMap();
  /**
   * The broadcasts, an ArrayList that is replaced and never changed. The plan's expression holds this reference: it is
   * serialized with the tasks, when the scan has been planned and the vectors are known.
   */
  final AtomicReference broadcasts = new AtomicReference(new ArrayList());

  private FileLists(SparkSession session, OpenTable table, long limit) {
    this.session = session;
    this.table = table;
    this.limit = limit;
  }

  static FileLists of(SparkSession session, OpenTable table) {
    return of(session, table, NO_LIMIT);
  }

  /** The lists of a version of which so many rows are enough, whichever they are. */
  static synchronized FileLists of(SparkSession session, OpenTable table, long limit) {
    String zone = session.conf().get("spark.sql.session.timeZone");
    String key = session.sparkContext().applicationId() + "\n" + zone + "\n" + limit + "\n" + table.identity;
    synchronized (SHARED) {
      WeakReference known = (WeakReference) SHARED.get(key);
      FileLists lists = known == null ? null : (FileLists) known.get();
      if (lists == null) {
        lists = new FileLists(session, table, limit);
        SHARED.values().removeIf(new java.util.function.Predicate() {
          public boolean test(Object reference) {
            return ((WeakReference) reference).get() == null;
          }
        });
        SHARED.put(key, new WeakReference(lists));
      }
      return lists;
    }
  }

  boolean isLimited() {
    return limit != NO_LIMIT;
  }

  /** Files by partition values. */
  static final class Group {
    final InternalRow values;
    final ArrayList files = new ArrayList();
    /** Codes of deletion vectors, in the order of `files`; null where none has one. */
    ArrayList vectors;

    Group(InternalRow values) {
      this.values = values;
    }
  }

  /** The files that may hold a row for which `predicate` (JSON, or null for all) is true. */
  synchronized ArrayList list(String predicate) {
    SoftReference known = (SoftReference) remembered.get(predicate);
    ArrayList groups = known == null ? null : (ArrayList) known.get();
    if (groups != null) return groups;
    HashMap request = table.request("plan");
    request.put("predicate", predicate);
    // a row of a file need not be one for which the predicate is true
    boolean fewer = isLimited() && predicate == null;
    if (fewer) request.put("limit", Long.valueOf(limit));
    groups = decode(listed(Python.call(request, null)), predicate == null && !fewer);
    remember(predicate, groups);
    return groups;
  }

  /** A list as it came, or from the file that has it, which is read once. */
  private static ByteBuffer listed(Object answer) {
    if (answer instanceof byte[]) return ByteBuffer.wrap((byte[]) answer);
    File file = new File((String) answer);
    try {
      RandomAccessFile in = new RandomAccessFile(file, "r");
      try {
        return in.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, in.length());
      } finally {
        in.close();
      }
    } catch (IOException e) {
      throw new IllegalStateException("the list of files cannot be read from " + file, e);
    } finally {
      // a file that is mapped stays on Windows until the process ends
      if (!file.delete()) file.deleteOnExit();
    }
  }

  /** The files of `list` in groups, each for a task of the core (see deltaic/spark/bridge/core_reads.py). */
  synchronized List groups(String predicate, boolean rowIds) {
    HashMap request = table.request("groups");
    request.put("predicate", predicate);
    request.put("rowIds", Boolean.valueOf(rowIds));
    // they have the settings of the store
    String key = Python.write(request) + Python.write(StoreSettings.ofActive(request));
    SoftReference known = (SoftReference) remembered.get(key);
    List groups = known == null ? null : (List) known.get();
    if (groups != null) return groups;
    ByteBuffer in = ByteBuffer.wrap((byte[]) Python.call(request, null));
    groups = new ArrayList();
    while (in.hasRemaining()) groups.add(bytes(in));
    remember(key, groups);
    return groups;
  }

  private void remember(String key, Object files) {
    remembered.put(key, new SoftReference(files));
    if (remembered.size() > REMEMBERED) remembered.remove(remembered.keySet().iterator().next());
  }

  /** Bytes of all files. */
  synchronized long size() {
    if (size < 0) size = ((Number) Python.call(table.request("size"), null)).longValue();
    return size;
  }

  /** Rows that are not deleted; -1 where the log lacks the number. */
  synchronized long rows() {
    if (rows == UNASKED) rows = ((Number) Python.call(table.request("rows"), null)).longValue();
    return rows;
  }

  /** Whether a file may have a deletion vector: false only where the log tells that none has. */
  synchronized boolean mayHaveVectors() {
    if (vectors == null) {
      vectors = Boolean.valueOf(table.deletionVectors);
      if (table.deletionVectors && table.isOfLog()) vectors = (Boolean) Python.call(table.request("vectors"), null);
    }
    return vectors.booleanValue();
  }

  /** Reads the layout that rust/core/src/engine/file_list.rs writes. */
  private ArrayList decode(ByteBuffer in, boolean all) {
    StructType schema = table.listedSchema();
    String zone = session.conf().get("spark.sql.session.timeZone");
    String root = text(in);
    boolean rowIds = in.get() != 0;
    ArrayList groups = new ArrayList();
    int count = in.getInt();
    for (int i = 0; i < count; i++) {
      Object[] values = new Object[schema.length()];
      for (int c = 0; c < values.length; c++) values[c] = cast(bytes(in), schema.fields()[c].dataType(), zone);
      groups.add(new Group(new GenericInternalRow(values)));
    }
    DeletedRows deleted = new DeletedRows();
    int broadcastNumber = ((ArrayList) broadcasts.get()).size();
    int files = in.getInt();
    long total = 0;
    for (int i = 0; i < files; i++) {
      Group group = (Group) groups.get(in.getInt());
      long length = in.getLong();
      long modified = in.getLong();
      boolean relative = in.get() != 0;
      String uri = relative ? root + text(in) : text(in);
      FileStatus status = new FileStatus(length, false, 0, BLOCK, modified, new Path(java.net.URI.create(uri)));
      total += length;
      int vector = in.getInt();
      ByteBuffer bits = vector < 0 ? null : (ByteBuffer) in.slice();
      if (vector > 0) in.position(in.position() + vector);
      group.files.add(FileStatusWithMetadata.apply(status, rowIds ? RowIdRule.ofFile(in.getLong(), in.getLong()) : Scala.emptyMap()));
      if (bits == null) {
        if (group.vectors != null) group.vectors.add(null);
        continue;
      }
      if (group.vectors == null) {
        group.vectors = new ArrayList();
        while (group.vectors.size() < group.files.size() - 1) group.vectors.add(null);
      }
      // of changes, a file may be there more than once: in other versions, or with rows that came and rows that went
      String key = table.changeType == null ? uri : uri + group.values;
      Long code = (Long) codes.get(key);
      if (code == null) {
        code = Long.valueOf(deleted.add(bits, vector, broadcastNumber));
        codes.put(key, code);
      }
      group.vectors.add(code);
    }
    if (!deleted.sets.isEmpty()) {
      ArrayList next = new ArrayList((ArrayList) broadcasts.get());
      next.add(JavaSparkContext.fromSparkContext(session.sparkContext()).broadcast(deleted.sets));
      broadcasts.set(next);
    }
    if (all) size = total;
    return groups;
  }

  private static byte[] bytes(ByteBuffer in) {
    int length = in.getInt();
    if (length < 0) return null;
    byte[] out = new byte[length];
    in.get(out);
    return out;
  }

  private static String text(ByteBuffer in) {
    return new String(bytes(in), StandardCharsets.UTF_8);
  }

  /** The value of a partition column, as Spark casts the log's text in the session's time zone. */
  private static Object cast(byte[] raw, DataType type, String zone) {
    if (raw == null) return null;
    if (type instanceof BinaryType) return raw;
    UTF8String text = UTF8String.fromBytes(raw);
    if (type instanceof StringType) return text;
    Literal literal = new Literal(text, StringType$.MODULE$);
    Object value = new Cast(literal, type, Option.apply(zone), EvalMode$.MODULE$.LEGACY()).eval(null);
    if (value == null) {
      throw new IllegalArgumentException("partition value '" + text + "' is not a " + type.simpleString());
    }
    return value;
  }
}
