package deltaic.spark;

import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.util.VersionInfo;
import org.apache.spark.sql.SparkSession;

/** Whether Hadoop has a file system for a place: without one Spark itself can neither read nor write files there. */
public final class HadoopFiles {
  /** Answers by scheme and by the class that settings name for it. */
  private static final ConcurrentHashMap KNOWN = new ConcurrentHashMap();

  private HadoopFiles() {}

  /** `uri` is that of a table; one without a scheme is a local path. */
  public static boolean has(SparkSession session, String uri) {
    String scheme = schemeOf(uri);
    if (scheme == null || scheme.equals("file")) return true;
    String name = "fs." + scheme + ".impl";
    Configuration hadoop = session.sparkContext().hadoopConfiguration();
    String named = session.conf().get(name, hadoop.get(name));
    if (named == null) named = (String) StoreSettings.fileSystem(session, uri).get(name);
    String key = scheme + " " + named;
    Boolean known = (Boolean) KNOWN.get(key);
    if (known == null) {
      Configuration settings = new Configuration(hadoop);
      if (named != null) settings.set(name, named);
      known = Boolean.valueOf(finds(scheme, settings));
      KNOWN.put(key, known);
    }
    return known.booleanValue();
  }

  /** The JAR that brings it, as `spark.jars.packages` takes it. */
  public static String needed(String uri) {
    String scheme = schemeOf(uri);
    if (scheme.equals("gs")) return "com.google.cloud.bigdataoss:gcs-connector";
    boolean azure = scheme.startsWith("abfs") || scheme.startsWith("wasb");
    if (!azure && !scheme.startsWith("s3")) return "the JAR of Hadoop's file system for " + scheme + "://";
    return "org.apache.hadoop:" + (azure ? "hadoop-azure" : "hadoop-aws") + ":" + VersionInfo.getVersion();
  }

  private static String schemeOf(String uri) {
    int end = uri.indexOf(':');
    return uri.startsWith("/") || end < 0 ? null : uri.substring(0, end);
  }

  private static boolean finds(String scheme, Configuration settings) {
    try {
      FileSystem.getFileSystemClass(scheme, settings);
      return true;
    } catch (java.io.IOException e) {
      return false;
    } catch (RuntimeException e) {
      // a class that Hadoop's defaults name, and no JAR has
      return false;
    } catch (LinkageError e) {
      // a JAR without those that it needs: Hadoop says so when it opens the file system
      return true;
    }
  }
}
