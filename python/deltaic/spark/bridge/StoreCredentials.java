package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.InvocationTargetException;
import java.net.URI;
import java.time.Instant;
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
    String scheme = uri.getScheme();
    if (!"s3".equals(scheme) && !"s3a".equals(scheme) && !"s3n".equals(scheme)) {
      throw new IllegalArgumentException("provider classes are called for S3 alone: give keys, a token or a function");
    }
    try {
      return Python.write(s3a(uri, hadoop));
    } catch (InvocationTargetException e) {
      throw new IllegalStateException(said(e.getCause()), e.getCause());
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("`" + e.getMessage() + "` is not on the class path: add hadoop-aws to Spark's JARs");
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this Hadoop has no `" + e.getMessage() + "`", e);
    }
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
