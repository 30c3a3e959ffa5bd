package deltaic.spark;

import org.apache.spark.sql.execution.streaming.Offset;

/** How far a stream came: the JSON of rust/core/src/stream/offset.rs. */
final class StreamOffset extends Offset {
  private final String json;

  StreamOffset(String json) {
    this.json = json;
  }

  public String json() {
    return json;
  }
}
