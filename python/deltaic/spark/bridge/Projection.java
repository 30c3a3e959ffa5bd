package deltaic.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;

/**
 * Projections of many columns by one call of Python, for which each function of columns is some: of a table with a
 * thousand columns they took seconds (deltaic/spark/session/projection.py).
 */
public final class Projection {
  private Projection() {}

  /**
   * The rows with some columns, in this order: JSON, each null for the next of `given`, or an object with the `source`
   * as an expression of names, the `name`, and where they are others the `type` and the `metadata`.
   */
  public static org.apache.spark.sql.Dataset select(
      org.apache.spark.sql.Dataset rows, String columns, List given) {
    List selected = new ArrayList();
    Iterator others = given.iterator();
    for (Iterator i = Python.read(columns).elements(); i.hasNext(); ) {
      JsonNode column = (JsonNode) i.next();
      selected.add(column.isNull() ? (Column) others.next() : taken(column));
    }
    return ((Dataset) rows).select(Scala.seq(selected));
  }

  private static Column taken(JsonNode column) {
    Column value = functions.col(column.get("source").asText());
    if (column.has("type")) value = value.cast(DataType.fromJson(column.get("type").toString()));
    String name = column.get("name").asText();
    if (!column.has("metadata")) return value.as(name);
    return value.as(name, Metadata.fromJson(column.get("metadata").toString()));
  }
}
