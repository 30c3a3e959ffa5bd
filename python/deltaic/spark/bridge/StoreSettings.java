package deltaic.spark;

import java.net.URI;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.alias.CredentialProvider;
import org.apache.hadoop.security.alias.CredentialProviderFactory;
import org.apache.spark.sql.SparkSession;

/** What Hadoop and the session say of the stores: endpoints, credentials and the like, by Hadoop's names. */
public final class StoreSettings {
  private static final String[] STORES = {"fs.s3a.", "fs.azure.", "fs.gs.", "fs.viewfs.", "dfs.",
      "hadoop.security.authentication", "hadoop.security.key.provider.path"};
  /** How the files with Hadoop's defaults end: `core-default.xml`, `hdfs-default.xml` … */
  private static final String DEFAULTS = "-default.xml";
  private static final String DEFAULT_FS = "fs.defaultFS";
  private static final String S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem";
  /** The function that gives credentials, as the session names it and as the core does. */
  private static final String CREDENTIALS = "spark.deltaic.credentials";
  private static final String CREDENTIALS_OPTION = "session_credentials_source";
  private static final String PROVIDERS = "hadoop.security.credential.provider.path";

  private StoreSettings() {}

  /**
   * Those that somebody set: of Hadoop, in its credential providers, and in the session, a later one before an earlier
   * one. Defaults of Hadoop are left out.
   */
  static HashMap of(SparkSession session) {
    return of(session, Scala.map(session.conf().getAll()));
  }

  /** As `of`, with the settings that the session has. */
  static HashMap of(SparkSession session, Map set) {
    HashMap found = new HashMap();
    Configuration hadoop = session.sparkContext().hadoopConfiguration();
    for (Iterator i = hadoop.iterator(); i.hasNext(); ) {
      String name = (String) ((Map.Entry) i.next()).getKey();
      if (!isOfStore(name) || isDefault(hadoop.getPropertySources(name))) continue;
      String value = hadoop.get(name);
      if (value != null) found.put(name, value);
    }
    if (hadoop.get(PROVIDERS) != null) found.putAll(kept(hadoop));
    for (Iterator i = set.entrySet().iterator(); i.hasNext(); ) {
      Map.Entry setting = (Map.Entry) i.next();
      String name = (String) setting.getKey();
      if (isOfStore(name)) found.put(name, setting.getValue());
    }
    String working = workingFolder(session);
    if (working != null) found.put(DEFAULT_FS, working);
    if (set.get(CREDENTIALS) != null) found.put(CREDENTIALS_OPTION, set.get(CREDENTIALS));
    return found;
  }

  /** Those of the active session for a request; none where it names a local table, or there is no session. */
  static HashMap ofActive(Map request) {
    if (isLocal(request.get("uri"))) return new HashMap();
    SparkSession active = active();
    return active == null || isLocal(request.get("path")) ? new HashMap() : of(active);
  }

  private static SparkSession active() {
    scala.Option active = SparkSession.getActiveSession();
    if (active.isEmpty()) active = SparkSession.getDefaultSession();
    return active.isEmpty() ? null : (SparkSession) active.get();
  }

  /** Whether a path without a scheme is a local one in the active session. */
  static boolean defaultIsLocal() {
    SparkSession active = active();
    return active == null || defaultIsLocal(active);
  }

  public static boolean defaultIsLocal(SparkSession session) {
    String scheme = defaultFileSystem(session).getScheme();
    return scheme == null || scheme.equals("file");
  }

  /** A path as Spark's own sources understand it: one without a scheme is of Hadoop's default file system. */
  static Path qualified(Path path) {
    SparkSession session = active();
    if (session == null || path.toUri().getScheme() != null) return path;
    String working = workingFolder(session);
    if (working == null) return path;
    Path folder = new Path(working);
    return path.makeQualified(folder.toUri(), folder);
  }

  private static URI defaultFileSystem(SparkSession session) {
    String given = session.conf().get(DEFAULT_FS, null);
    return given != null ? URI.create(given) : FileSystem.getDefaultUri(session.sparkContext().hadoopConfiguration());
  }

  /** The folder of relative paths in Hadoop's default file system; null where that is the local one. */
  private static String workingFolder(SparkSession session) {
    if (defaultIsLocal(session)) return null;
    URI uri = defaultFileSystem(session);
    try {
      FileSystem files = FileSystem.get(uri, session.sparkContext().hadoopConfiguration());
      return files.getWorkingDirectory().toString();
    } catch (Exception e) {
      // Spark cannot read there; whole paths have a meaning nevertheless
      return uri.toString();
    }
  }

  /** As a JSON object: see `fileSystem`. */
  public static String fileSystemOf(SparkSession session, String uri) {
    return Python.write(fileSystem(session, uri));
  }

  /** `s3` and `s3n` are S3A's in a Hadoop that has no other file system for them. */
  static HashMap fileSystem(SparkSession session, String uri) {
    HashMap found = new HashMap();
    String scheme = java.net.URI.create(uri).getScheme();
    if (!"s3".equals(scheme) && !"s3n".equals(scheme)) return found;
    String name = "fs." + scheme + ".impl";
    if (session.sparkContext().hadoopConfiguration().get(name) == null && session.conf().get(name, null) == null) {
      found.put(name, S3A);
    }
    return found;
  }

  /** The secrets of the stores that Hadoop's credential providers keep. */
  private static HashMap kept(Configuration hadoop) {
    HashMap found = new HashMap();
    try {
      List providers = CredentialProviderFactory.getProviders(hadoop);
      for (int i = providers.size() - 1; i >= 0; i--) {
        CredentialProvider provider = (CredentialProvider) providers.get(i);
        for (Iterator names = provider.getAliases().iterator(); names.hasNext(); ) {
          String name = (String) names.next();
          if (isOfStore(name)) found.put(name, new String(provider.getCredentialEntry(name).getCredential()));
        }
      }
    } catch (java.io.IOException e) {
      throw new IllegalStateException("Hadoop cannot read its credential providers, see `" + PROVIDERS + "`", e);
    }
    return found;
  }

  private static boolean isLocal(Object place) {
    if (!(place instanceof String)) return false;
    String text = (String) place;
    return text.startsWith("file:") || (text.startsWith("/") && defaultIsLocal());
  }

  private static boolean isOfStore(String name) {
    for (int i = 0; i < STORES.length; i++) if (name.startsWith(STORES[i])) return true;
    return false;
  }

  private static boolean isDefault(String[] sources) {
    return sources != null && sources.length > 0 && sources[sources.length - 1].endsWith(DEFAULTS);
  }
}
