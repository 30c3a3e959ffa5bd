package deltaic.spark;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.execution.command.CreateDataSourceTableAsSelectCommand;
import org.apache.spark.sql.execution.command.InsertIntoDataSourceDirCommand;
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand;
import scala.Option;
import scala.Product;

/**
 * Writes of other formats. One into the folder of a Delta table would leave files that no commit lists, and an overwrite
 * would take the log away: both are refused.
 */
final class BareFiles {
  private static final String INSTEAD = "INSERT INTO delta.`path`, or choose a folder that is in no Delta table";

  private BareFiles() {}

  /** Whether a command writes files to a place that it names. */
  static boolean writes(Object node) {
    return node instanceof InsertIntoHadoopFsRelationCommand || node instanceof InsertIntoDataSourceDirCommand
        || node instanceof CreateDataSourceTableAsSelectCommand || ofHive(node);
  }

  /** Those of Hive, whose classes need not be there. */
  private static boolean ofHive(Object node) {
    String name = node.getClass().getName();
    return name.startsWith("org.apache.spark.sql.hive.execution.") && name.contains("Hive") && node instanceof Product;
  }

  /** Refuses a command whose place is in a Delta table, and one that writes a folder `USING delta`. */
  static void check(Object node) {
    Path place = place(node);
    if (node instanceof InsertIntoDataSourceDirCommand
        && ((InsertIntoDataSourceDirCommand) node).provider().equalsIgnoreCase(Python.format())) {
      throw Refusal.of("INSERT OVERWRITE DIRECTORY … USING " + Python.format(), "INSERT OVERWRITE delta.`path`",
          String.valueOf(place));
    }
    String table = place == null ? null : tableAround(place);
    if (table != null) throw Refusal.of("a write of files of another format into a Delta table", INSTEAD, table);
  }

  private static Path place(Object node) {
    if (node instanceof InsertIntoHadoopFsRelationCommand) return ((InsertIntoHadoopFsRelationCommand) node).outputPath();
    Product parts = (Product) node;
    for (int i = 0; i < parts.productArity(); i++) {
      Object part = parts.productElement(i);
      if (part instanceof CatalogTable) part = ((CatalogTable) part).storage();
      if (part instanceof CatalogStorageFormat) {
        Option uri = ((CatalogStorageFormat) part).locationUri();
        return uri.isDefined() ? new Path((URI) uri.get()) : null;
      }
    }
    return null;
  }

  /** The Delta table whose folder a place is, or is in; null where there is none, or it is unknown. */
  private static String tableAround(Path place) {
    Configuration settings =
        ((org.apache.spark.sql.classic.SparkSession) SparkSession.active()).sessionState().newHadoopConf();
    try {
      FileSystem files = place.getFileSystem(settings);
      for (Path at = files.makeQualified(place); at != null; at = at.getParent()) {
        if (files.exists(new Path(at, "_delta_log"))) return SessionCatalog.location(at.toUri());
      }
    } catch (IOException e) {
      // the write itself will say it
      return null;
    }
    return null;
  }
}
