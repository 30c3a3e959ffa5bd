package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.InvocationTargetException;
import java.net.URI;
import java.time.Instant;
import java.util.Date;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;

/**
 * The credentials of Hadoop's provider classes, for the core, which cannot call Java. Hadoop makes the classes as it does for
 * its own clients. Its file systems are called by reflection: they may not be on the class path.
 */
public final class StoreCredentials {
  private static final String S3A = "org.apache.hadoop.fs.s3a.";
  private static final String ABFS = "org.apache.hadoop.fs.azurebfs.";
  private static final String GOOGLE = "com.google.cloud.hadoop.util.AccessTokenProvider";
  private static final String SDK = "software.amazon.awssdk.auth.credentials.";

  private StoreCredentials() {}

  /**
   * As a JSON object: the options of the store, and `expires_at`, in seconds since the Unix epoch, where the class says it.
   * `settings` are those of a session or an operation, as a JSON object.
   */
  public static String of(String store, String settings) {
    scala.Option session = SparkSession.getActiveSession();
    if (session.isEmpty()) session = SparkSession.getDefaultSession();
    if (session.isEmpty()) throw new IllegalStateException("there is no Spark session");
    Configuration hadoop = new Configuration(((SparkSession) session.get()).sparkContext().hadoopConfiguration());
    for (Iterator i = Python.read(settings).fields(); i.hasNext(); ) {
      Map.Entry setting = (Map.Entry) i.next();
      hadoop.set((String) setting.getKey(), ((JsonNode) setting.getValue()).asText());
    }
    URI uri = URI.create(store);
    try {
      return Python.write(given(uri, hadoop));
    } catch (InvocationTargetException e) {
      throw new IllegalStateException(said(e.getCause()), e.getCause());
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("`" + e.getMessage() + "` is not on the class path: add the JARs of the store's file system to Spark's");
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this Hadoop has no `" + e.getMessage() + "`", e);
    }
  }

  private static HashMap given(URI uri, Configuration hadoop) throws ReflectiveOperationException {
    switch (uri.getScheme()) {
      case "s3":
      case "s3a":
      case "s3n":
        return s3a(uri, hadoop);
      case "gs":
        return google(hadoop);
      case "abfs":
      case "abfss":
      case "wasb":
      case "wasbs":
        return azure(uri, hadoop);
      default:
        throw new IllegalArgumentException(
            "no class of Hadoop gives credentials for " + uri.getScheme() + ": give keys, a token or a function");
    }
  }

  /** The token of `fs.azure.account.oauth.provider.type`: a class of Hadoop, or of the user for the type `Custom`. */
  private static HashMap azure(URI uri, Configuration hadoop) throws ReflectiveOperationException {
    Class of = loaded(ABFS + "AbfsConfiguration");
    Object own = of.getConstructor(new Class[] {Configuration.class, String.class})
        .newInstance(new Object[] {hadoop, uri.getHost()});
    Object provider = called(of, "getTokenProvider", own);
    Object token = called(loaded(ABFS + "oauth2.AccessTokenProvider"), "getToken", provider);
    Class kind = loaded(ABFS + "oauth2.AzureADToken");
    HashMap found = new HashMap();
    found.put("azure_storage_token", called(kind, "getAccessToken", token));
    Date expires = (Date) called(kind, "getExpiry", token);
    if (expires != null) found.put("expires_at", Double.valueOf(expires.getTime() / 1000.0));
    return found;
  }

  /** The token of `fs.gs.auth.access.token.provider`, made as Google's connector makes it. */
  private static HashMap google(Configuration hadoop) throws ReflectiveOperationException {
    Class provider = loaded(GOOGLE);
    Object made = loaded(hadoop.get("fs.gs.auth.access.token.provider")).getDeclaredConstructor().newInstance();
    provider.getMethod("setConf", new Class[] {Configuration.class}).invoke(made, new Object[] {hadoop});
    called(provider, "refresh", made);
    Object token = called(provider, "getAccessToken", made);
    Class kind = loaded(GOOGLE + "$AccessToken");
    HashMap found = new HashMap();
    found.put("google_bearer_token", called(kind, "getToken", token));
    Instant expires = (Instant) called(kind, "getExpirationTime", token);
    if (expires != null) found.put("expires_at", Double.valueOf(expires.toEpochMilli() / 1000.0));
    return found;
  }

  private static HashMap s3a(URI uri, Configuration hadoop) throws ReflectiveOperationException {
    Object own = loaded(S3A + "S3AUtils")
        .getMethod("propagateBucketOptions", new Class[] {Configuration.class, String.class})
        .invoke(null, new Object[] {hadoop, uri.getHost()});
    Object providers = loaded(S3A + "auth.CredentialProviderListFactory")
        .getMethod("createAWSCredentialProviderList", new Class[] {URI.class, Configuration.class})
        .invoke(null, new Object[] {uri, own});
    try {
      Object given = called(loaded(S3A + "AWSCredentialProviderList"), "resolveCredentials", providers);
      Class keys = loaded(SDK + "AwsCredentials");
      HashMap found = new HashMap();
      found.put("aws_access_key_id", called(keys, "accessKeyId", given));
      found.put("aws_secret_access_key", called(keys, "secretAccessKey", given));
      Class temporary = loaded(SDK + "AwsSessionCredentials");
      if (temporary.isInstance(given)) {
        found.put("aws_session_token", called(temporary, "sessionToken", given));
      }
      Optional expires = (Optional) called(keys, "expirationTime", given);
      if (expires.isPresent()) {
        found.put("expires_at", Double.valueOf(((Instant) expires.get()).toEpochMilli() / 1000.0));
      }
      return found;
    } finally {
      called(loaded(S3A + "AWSCredentialProviderList"), "close", providers);
    }
  }

  private static Object called(Class of, String method, Object on) throws ReflectiveOperationException {
    return of.getMethod(method, new Class[0]).invoke(on, new Object[0]);
  }

  private static Class loaded(String name) throws ClassNotFoundException {
    return Class.forName(name, true, Thread.currentThread().getContextClassLoader());
  }

  /** What went wrong, without a stack: the class of Hadoop or its cause says it. */
  private static String said(Throwable cause) {
    return cause == null ? "no reason" : cause.getClass().getName() + ": " + cause.getMessage();
  }
}
