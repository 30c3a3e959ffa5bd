package deltaic.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.Predicate$;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.LongType$;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Seq;

/**
 * The files of one version of a table. Equal when table and version are equal, so that Spark's caches never serve
 * another version. A live one reads the newest version at each query, whichever that is: it is equal to every live
 * one of the table, so that Spark's caches know the table by it, and PinVersions replaces it when a query is planned.
 */
public final class LogFileIndex implements FileIndex {
  /** Hidden partition column: the code of the file's deletion vector (see FileLists). */
  static final String VECTOR = "__deltaic_deletion_vector";

  /** Hidden partition column of changes: what happened to all rows of the file (see OpenTable.changeType). */
  static final String CHANGE = "__deltaic_change";

  final OpenTable table;
  final FileLists lists;
  /** JSON of the filters that Spark keeps from `listFiles` (MixedFilterRule), or null. */
  final String mixed;
  /** Whether the plan above applies deletion vectors; without that, a file that has one is refused. */
  final boolean withVectors;
  final boolean live;
  private final StructType partitionSchema;
  /** Of a live one: the version that the last query read. */
  private volatile LogFileIndex latest;

  LogFileIndex(OpenTable table, FileLists lists, String mixed, boolean withVectors) {
    this(table, lists, mixed, withVectors, false);
  }

  LogFileIndex(OpenTable table, FileLists lists, String mixed, boolean withVectors, boolean live) {
    this.live = live;
    this.table = table;
    this.lists = lists;
    this.mixed = mixed;
    this.withVectors = withVectors;
    this.partitionSchema =
        withVectors ? table.listedSchema().add(VECTOR, LongType$.MODULE$, true) : table.partitionSchema();
  }

  public StructType partitionSchema() {
    return partitionSchema;
  }

  /** The files of a version, for the columns of this one, which is live. */
  LogFileIndex at(SparkSession session, OpenTable version) {
    LogFileIndex known = latest;
    if (known != null && known.table.identity.equals(table.identityAt(version))) return known;
    OpenTable read = table.at(version);
    known = new LogFileIndex(read, read == table ? lists : FileLists.of(session, read), mixed, withVectors);
    latest = known;
    return known;
  }

  /** The files of one version: of a live one that did not go through our rules those of the newest. */
  LogFileIndex settled() {
    return live ? newest() : this;
  }

  private LogFileIndex newest() {
    return at(SparkSession.active(), Versions.newest(table));
  }

  public Seq rootPaths() {
    return Scala.one(new Path(java.net.URI.create(table.uri)));
  }

  /**
   * The files that the core keeps. Spark drops partition filters from the plan, so these are applied here exactly.
   */
  public Seq listFiles(Seq partitionFilters, Seq dataFilters) {
    // a plan that did not go through our rules
    if (live) return newest().listFiles(partitionFilters, dataFilters);
    if (table.changeType != null && !withVectors) {
      throw new IllegalStateException("this plan has no list of the changes of " + table.path);
    }
    List exact = Scala.list(partitionFilters);
    List all = new ArrayList(exact);
    all.addAll(Scala.list(dataFilters));
    // what happened to a row is no column of the log, and all files of changes come at once
    ArrayList groups =
        lists.list(table.changeType != null ? null : Predicates.both(Predicates.translate(all, table), mixed));
    BasePredicate[] tests = new BasePredicate[exact.size()];
    for (int i = 0; i < tests.length; i++) {
      tests[i] = Predicate$.MODULE$.createInterpreted(bind((Expression) exact.get(i)));
    }
    ArrayList out = new ArrayList();
    for (int i = 0; i < groups.size(); i++) {
      FileLists.Group group = (FileLists.Group) groups.get(i);
      if (group.files.isEmpty() || !passes(tests, group.values)) continue;
      if (!withVectors) {
        if (group.vectors != null) {
          throw new IllegalStateException("deletion vectors of " + table.path + " are not applied by this plan");
        }
        out.add(new PartitionDirectory(group.values, Scala.seq(group.files)));
      } else {
        split(group, out);
      }
    }
    return Scala.seq(out);
  }

  private static boolean passes(BasePredicate[] tests, InternalRow values) {
    for (int i = 0; i < tests.length; i++) if (!tests[i].eval(values)) return false;
    return true;
  }

  private Expression bind(Expression filter) {
    final StructType schema = partitionSchema;
    return (Expression) filter.transform(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return node instanceof AttributeReference;
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        if (!(node instanceof AttributeReference)) return otherwise.apply(node);
        int at = schema.fieldIndex(((AttributeReference) node).name());
        return new BoundReference(at, schema.fields()[at].dataType(), true);
      }
    });
  }

  /** One directory of the files without a deletion vector, and one for each file with one. */
  private void split(FileLists.Group group, ArrayList out) {
    ArrayList plain = new ArrayList();
    for (int i = 0; i < group.files.size(); i++) {
      Object code = group.vectors == null ? null : group.vectors.get(i);
      if (code == null) plain.add(group.files.get(i));
      else out.add(new PartitionDirectory(extend(group.values, code), Scala.one(group.files.get(i))));
    }
    if (!plain.isEmpty()) out.add(new PartitionDirectory(extend(group.values, null), Scala.seq(plain)));
  }

  private InternalRow extend(InternalRow values, Object code) {
    Object[] all = new Object[partitionSchema.length()];
    System.arraycopy(((GenericInternalRow) values).values(), 0, all, 0, all.length - 1);
    all[all.length - 1] = code;
    return new GenericInternalRow(all);
  }

  public String[] inputFiles() {
    if (live) return newest().inputFiles();
    ArrayList out = new ArrayList();
    ArrayList groups = lists.list(null);
    for (int i = 0; i < groups.size(); i++) {
      ArrayList files = ((FileLists.Group) groups.get(i)).files;
      for (int f = 0; f < files.size(); f++) out.add(((FileStatusWithMetadata) files.get(f)).getPath().toUri().toString());
    }
    return (String[]) out.toArray(new String[0]);
  }

  /** A version does not change, and a live one looks at each query. */
  public void refresh() {}

  /** Of a live one what is known without a look at the log: it is an estimate for the plan. */
  public long sizeInBytes() {
    LogFileIndex known = latest;
    return known == null ? lists.size() : known.lists.size();
  }

  public Option metadataOpsTimeNs() {
    return Option.empty();
  }

  public String toString() {
    return "Delta[version=" + (live ? "newest" : String.valueOf(table.version)) + ", " + table.uri + "]";
  }

  public boolean equals(Object other) {
    if (!(other instanceof LogFileIndex)) return false;
    LogFileIndex index = (LogFileIndex) other;
    if (live || index.live) {
      return live && index.live && table.isSameAs(index.table) && Objects.equals(mixed, index.mixed);
    }
    return withVectors == index.withVectors && lists == index.lists && Objects.equals(mixed, index.mixed);
  }

  public int hashCode() {
    return live ? table.place().hashCode() : table.identity.hashCode();
  }
}
