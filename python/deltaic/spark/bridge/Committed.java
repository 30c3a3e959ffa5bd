package deltaic.spark;

import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.CacheManager;

/** What follows a commit of this session. */
public final class Committed {
  private Committed() {}

  private static final String VERSION = "spark.databricks.delta.lastCommitVersionInSession";

  /**
   * The session's settings name the version. Data that Spark cached of the table is made again, by plan and by name;
   * `uri` is percent-encoded.
   */
  public static void to(SparkSession session, String uri, long version) {
    session.conf().set(VERSION, version);
    Versions.forget(OpenTable.place(uri));
    org.apache.spark.sql.classic.SparkSession classic = (org.apache.spark.sql.classic.SparkSession) session;
    CacheManager cache = classic.sharedState().cacheManager();
    if (cache.isEmpty()) return;
    Path path = new Path(java.net.URI.create(uri));
    FileSystem files = filesAt(path, classic);
    cache.recacheByPath(classic, path, files);
  }

  /** As `to`, of a table at a path as Hadoop takes it: nothing is escaped. */
  public static void toPath(SparkSession session, String path, long version) {
    to(session, uriOf(path), version);
  }

  /** Percent-encoded, as Spark spells it. */
  static String uriOf(String path) {
    java.net.URI uri = StoreSettings.qualified(new Path(path)).toUri();
    return uri.getScheme() == null ? "file:" + uri.getRawPath() : uri.toString();
  }

  /** What spells paths: where Hadoop has no file system, one that does no more. */
  private static FileSystem filesAt(final Path path, org.apache.spark.sql.classic.SparkSession session) {
    try {
      return path.getFileSystem(session.sessionState().newHadoopConf());
    } catch (Exception e) {
      return new RawLocalFileSystem() {
        public java.net.URI getUri() {
          return java.net.URI.create(path.toUri().getScheme() + "://" + path.toUri().getAuthority());
        }

        public Path getWorkingDirectory() {
          return path;
        }
      };
    }
  }
}
