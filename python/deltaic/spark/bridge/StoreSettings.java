package deltaic.spark;

import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.alias.CredentialProvider;
import org.apache.hadoop.security.alias.CredentialProviderFactory;
import org.apache.spark.sql.SparkSession;

/** What Hadoop and the session say of the stores: endpoints, credentials and the like, by Hadoop's names. */
public final class StoreSettings {
  private static final String[] STORES = {"fs.s3a.", "fs.azure.", "fs.gs."};
  private static final String DEFAULTS = "core-default.xml";
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
    if (set.get(CREDENTIALS) != null) found.put(CREDENTIALS_OPTION, set.get(CREDENTIALS));
    return found;
  }

  /** Those of the active session for a request; none where it names a local table, or there is no session. */
  static HashMap ofActive(Map request) {
    if (isLocal(request.get("uri")) || isLocal(request.get("path"))) return new HashMap();
    scala.Option active = SparkSession.getActiveSession();
    if (active.isEmpty()) active = SparkSession.getDefaultSession();
    return active.isEmpty() ? new HashMap() : of((SparkSession) active.get());
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
    return place instanceof String && (((String) place).startsWith("/") || ((String) place).startsWith("file:"));
  }

  private static boolean isOfStore(String name) {
    for (int i = 0; i < STORES.length; i++) if (name.startsWith(STORES[i])) return true;
    return false;
  }

  private static boolean isDefault(String[] sources) {
    return sources != null && sources.length > 0 && sources[sources.length - 1].endsWith(DEFAULTS);
  }
}
