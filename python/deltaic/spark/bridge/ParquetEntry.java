package deltaic.spark;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTablePartition;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType$;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/** A table of the metastore of another format: what is known of it, and that it is one of ours after a conversion. */
public final class ParquetEntry {
  private ParquetEntry() {}

  /** What the metastore says of a name, as JSON; null where it has none, or the name is that of a temporary view. */
  public static String of(String schema, String table) throws Exception {
    SessionCatalog catalog = CatalogEntry.metastore();
    TableIdentifier name = new TableIdentifier(table, Option.apply(schema));
    if (catalog.isTempView(name) || !catalog.tableExists(name)) return null;
    CatalogTable entry = catalog.getTableMetadata(name);
    HashMap said = new HashMap();
    boolean view = entry.tableType().equals(CatalogTableType$.MODULE$.VIEW());
    said.put("name", entry.identifier().quotedString());
    said.put("format", view ? "view" : format(entry));
    if (!view) {
      Option place = entry.storage().locationUri();
      said.put("path", place.isEmpty() ? "" : deltaic.spark.SessionCatalog.location((URI) place.get()));
      said.put("comment", entry.comment().isEmpty() ? "" : entry.comment().get());
      said.put("created", Long.valueOf(entry.createTime()));
      said.put("partitions", entry.partitionSchema().json());
      said.put("properties", new HashMap(Scala.map(entry.properties())));
    }
    return Python.write(said);
  }

  /** Hive has Parquet by its class, and no name for it. */
  private static String format(CatalogTable entry) {
    String provider = entry.provider().isEmpty() ? "hive" : (String) entry.provider().get();
    Option serde = entry.storage().serde();
    boolean parquet = !serde.isEmpty() && ((String) serde.get()).toLowerCase().indexOf("parquet") >= 0;
    return provider.equals("hive") && parquet ? "parquet" : provider.toLowerCase();
  }

  /**
   * The partitions that the metastore or the file system has alone, and those that are in a folder of another name: a query
   * shows the rows of those that the metastore has, where it has them, and a conversion those of all folders.
   */
  public static List strangers(String schema, String table) throws Exception {
    SessionCatalog catalog = CatalogEntry.metastore();
    TableIdentifier name = new TableIdentifier(table, Option.apply(schema));
    CatalogTable entry = catalog.getTableMetadata(name);
    ArrayList found = new ArrayList();
    if (!entry.tracksPartitionsInCatalog() || entry.partitionColumnNames().isEmpty()) return found;
    Path root = new Path(entry.location());
    FileSystem files = root.getFileSystem(
        ((org.apache.spark.sql.classic.SparkSession) SparkSession.active()).sessionState().newHadoopConf());
    root = files.makeQualified(root);
    HashSet known = new HashSet();
    for (Iterator i = Scala.list(catalog.listPartitions(name, Scala.nothing())).iterator(); i.hasNext(); ) {
      CatalogTablePartition partition = (CatalogTablePartition) i.next();
      Path at = files.makeQualified(new Path(partition.location()));
      Path own = ExternalCatalogUtils.generatePartitionPath(partition.spec(), entry.partitionColumnNames(), root);
      if (!at.equals(own)) found.add(at.toString());
      known.add(at);
    }
    for (Iterator i = folders(files, root, entry.partitionColumnNames().size()).iterator(); i.hasNext(); ) {
      Path at = (Path) i.next();
      if (!known.contains(at) && files.listStatus(at).length > 0) found.add(at.toString());
    }
    return found;
  }

  /** The folders of partitions, so many levels below. */
  private static List folders(FileSystem files, Path root, int levels) throws IOException {
    ArrayList level = new ArrayList();
    level.add(root);
    for (int n = 0; n < levels; n++) {
      ArrayList next = new ArrayList();
      for (Iterator i = level.iterator(); i.hasNext(); ) {
        FileStatus[] within = files.listStatus((Path) i.next());
        for (int k = 0; k < within.length; k++) {
          if (within[k].isDirectory() && within[k].getPath().getName().indexOf('=') > 0) next.add(within[k].getPath());
        }
      }
      level = next;
    }
    return level;
  }

  /** Tells the metastore that the table is one of ours now, whose log says everything else. */
  public static void converted(String schema, String table) throws Exception {
    SessionCatalog catalog = CatalogEntry.metastore();
    CatalogTable entry = catalog.getTableMetadata(new TableIdentifier(table, Option.apply(schema)));
    HashMap storage = new HashMap();
    storage.put("inputFormat", Scala.nothing());
    storage.put("outputFormat", Scala.nothing());
    storage.put("serde", Scala.nothing());
    HashMap changes = new HashMap();
    changes.put("provider", Option.apply(Python.format()));
    changes.put("schema", new StructType());
    changes.put("partitionColumnNames", Scala.none());
    changes.put("properties", Scala.emptyMap());
    changes.put("storage", CatalogEntry.changed(entry.storage(), storage));
    catalog.alterTable(CatalogEntry.with(entry, changes));
    catalog.refreshTable(entry.identifier());
    CatalogEntry.describe(Identifier.of(new String[] {entry.database()}, entry.identifier().table()));
  }
}
