import com.google.cloud.hadoop.util.AccessTokenProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.time.Instant;
import java.util.Date;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.azurebfs.extensions.CustomTokenProviderAdaptee;

/** Tokens of a file, whose name is a setting: as a team writes providers for its vault. They expire after two seconds. */
public final class Tokens {
  private Tokens() {}

  private static String read(Configuration hadoop) {
    try {
      return new String(Files.readAllBytes(Paths.get(hadoop.get("fs.test.vault"))));
    } catch (IOException e) {
      throw new IllegalStateException("the vault is sealed", e);
    }
  }

  /** For ABFS. */
  public static final class OfAzure implements CustomTokenProviderAdaptee {
    private Configuration hadoop;

    public void initialize(Configuration hadoop, String account) {
      this.hadoop = hadoop;
    }

    public String getAccessToken() {
      return read(hadoop);
    }

    public Date getExpiryTime() {
      return Date.from(Instant.now().plusSeconds(2));
    }
  }

  /** For Google's connector. */
  public static final class OfGoogle implements AccessTokenProvider {
    private Configuration hadoop;

    public void setConf(Configuration hadoop) {
      this.hadoop = hadoop;
    }

    public Configuration getConf() {
      return hadoop;
    }

    public void refresh() {}

    public AccessToken getAccessToken() {
      return new AccessToken(read(hadoop), Instant.now().plusSeconds(2));
    }
  }
}
