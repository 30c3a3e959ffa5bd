import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;

/** Keys of a file, whose name is a setting: as a team writes a provider for its vault. They expire after two seconds. */
public final class Vault implements AwsCredentialsProvider {
  private final String file;

  public Vault(URI uri, Configuration hadoop) {
    file = hadoop.get("test.vault");
  }

  public AwsCredentials resolveCredentials() {
    try {
      List<String> lines = Files.readAllLines(Paths.get(file));
      return new Keys(lines.get(0), lines.get(1));
    } catch (java.io.IOException e) {
      throw new IllegalStateException("the vault is sealed", e);
    }
  }

  private static final class Keys implements AwsCredentials {
    private final String id;
    private final String secret;

    Keys(String id, String secret) {
      this.id = id;
      this.secret = secret;
    }

    public String accessKeyId() {
      return id;
    }

    public String secretAccessKey() {
      return secret;
    }

    public Optional<Instant> expirationTime() {
      return Optional.of(Instant.now().plusSeconds(2));
    }
  }
}
