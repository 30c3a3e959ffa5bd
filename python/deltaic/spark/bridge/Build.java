package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** What the JAR says of itself, in a file that is made with it. */
final class Build {
  private static final JsonNode SAID = read();

  private Build() {}

  /** The hash of the sources: a Python with others does not serve these classes. */
  static String sources() {
    return SAID.get("sources").asText();
  }

  /** The names of options that are secrets, as a regular expression. */
  static String secrets() {
    return SAID.get("secrets").asText();
  }

  private static JsonNode read() {
    try {
      InputStream file = Build.class.getResourceAsStream("build.json");
      try {
        return Python.read(new String(file.readAllBytes(), StandardCharsets.UTF_8));
      } finally {
        file.close();
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
