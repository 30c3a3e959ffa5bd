package deltaic.spark;

import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.V1Table;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.execution.command.CreateTableLikeCommand;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Product;

/**
 * CREATE TABLE … LIKE where the new table or the one that it is like is ours. Without USING it has the format of the other
 * one. Like one of ours it takes everything of its log but rows, row ids and clustering; else columns, partitioning, comment
 * and properties of what the catalog knows.
 */
final class CreateLike extends DeltaCommand.Parts {
  private final SessionCatalog catalog;
  private final Identifier target;
  private final Map properties;
  private final boolean ifNotExists;
  /** A DeltaTable, or the CatalogTable of another format or view. */
  private final Object source;

  private CreateLike(SessionCatalog catalog, Identifier target, Map properties, boolean ifNotExists, Object source) {
    this.catalog = catalog;
    this.target = target;
    this.properties = properties;
    this.ifNotExists = ifNotExists;
    this.source = source;
  }

  static boolean isLike(Object node) {
    return node instanceof CreateTableLikeCommand || node.getClass().getSimpleName().equals("CreateTableLike");
  }

  /** The command in place of such a statement, or null where no table of ours is concerned or known yet. */
  static DeltaCommand of(Object node) {
    if (node instanceof CreateTableLikeCommand) {
      CreateTableLikeCommand like = (CreateTableLikeCommand) node;
      boolean stored = like.fileFormat().inputFormat().isDefined() || like.fileFormat().serde().isDefined();
      return of(catalog(), identifier(like.targetTable()), source(like.sourceTable()), like.fileFormat().locationUri(),
          like.provider(), stored, like.properties(), like.ifNotExists());
    }
    // Spark 4.2
    Product like = (Product) node;
    if (!(like.productElement(0) instanceof ResolvedIdentifier)) return null;
    ResolvedIdentifier name = (ResolvedIdentifier) like.productElement(0);
    if (!(name.catalog() instanceof SessionCatalog)) return null;
    return of((SessionCatalog) name.catalog(), name.identifier(), source((LogicalPlan) like.productElement(1)),
        (Option) like.productElement(2), (Option) like.productElement(3), ((Option) like.productElement(4)).isDefined(),
        (scala.collection.immutable.Map) like.productElement(5), ((Boolean) like.productElement(6)).booleanValue());
  }

  private static DeltaCommand of(SessionCatalog catalog, Identifier target, Object source, Option location, Option provider,
      boolean stored, scala.collection.immutable.Map given, boolean ifNotExists) {
    if (catalog == null || source == null) return null;
    boolean likeOurs = source instanceof DeltaTable;
    HashMap properties = new HashMap(Scala.map(given));
    if (provider.isDefined()) properties.put("provider", provider.get());
    else if (likeOurs && !stored) properties.put("provider", Python.format());
    if (!likeOurs && !SessionCatalog.ours(target, properties)) return null;
    String label = SessionCatalog.label(target);
    if (stored) throw Refusal.of("CREATE TABLE … LIKE with STORED AS or ROW FORMAT", "USING", label);
    if (location.isDefined()) {
      Path place = location.get() instanceof java.net.URI
          ? new Path((java.net.URI) location.get()) : new Path((String) location.get());
      properties.put("location", place.toString());
    }
    HashMap request = new HashMap();
    request.put("op", "create like");
    request.put("path", label);
    return DeltaCommand.of(request, new CreateLike(catalog, target, properties, ifNotExists, source), new StructType());
  }

  private static org.apache.spark.sql.classic.SparkSession session() {
    return (org.apache.spark.sql.classic.SparkSession) SparkSession.active();
  }

  /** Spark's catalog where it is ours; null elsewhere. */
  static SessionCatalog catalog() {
    Object catalog = session().sessionState().catalogManager().v2SessionCatalog();
    return catalog instanceof SessionCatalog ? (SessionCatalog) catalog : null;
  }

  private static Identifier identifier(TableIdentifier name) {
    Object database = name.database().isDefined()
        ? name.database().get() : session().sessionState().catalog().getCurrentDatabase();
    return Identifier.of(new String[] {(String) database}, name.table());
  }

  /** What a name refers to; null where there is nothing, which Spark reports itself. */
  private static Object source(TableIdentifier name) {
    try {
      Identifier id = identifier(name);
      SessionCatalog catalog = catalog();
      if (catalog == null) return null;
      if (SessionCatalog.isOurs(name)) return catalog.loadTable(id);
      return session().sessionState().catalog().getTempViewOrPermanentTableMetadata(name);
    } catch (AnalysisException e) {
      return null;
    }
  }

  private static Object source(LogicalPlan plan) {
    if (plan instanceof ResolvedTable) {
      Table table = ((ResolvedTable) plan).table();
      if (table instanceof DeltaTable) return table;
      return table instanceof V1Table ? ((V1Table) table).v1Table() : null;
    }
    String kind = plan.getClass().getSimpleName();
    if (!kind.equals("ResolvedPersistentView") && !kind.equals("ResolvedTempView")) return null;
    // the name is the last but one
    Identifier id = (Identifier) ((Product) plan).productElement(((Product) plan).productArity() - 2);
    Option database = id.namespace().length == 0 ? Scala.nothing() : Option.apply(id.namespace()[0]);
    return source(new TableIdentifier(id.name(), database));
  }

  private static Column[] columns(StructType schema) {
    StructField[] fields = schema.fields();
    Column[] out = new Column[fields.length];
    for (int i = 0; i < out.length; i++) {
      String comment = fields[i].getComment().isDefined() ? (String) fields[i].getComment().get() : null;
      out[i] = Column.create(fields[i].name(), fields[i].dataType(), fields[i].nullable(), comment, fields[i].metadata().json());
    }
    return out;
  }

  HashMap of(SparkSession session) {
    return new HashMap();
  }

  /** As Spark makes a table that no query fills. */
  Object answer(HashMap request, HashMap data) throws AnalysisException {
    if (catalog.tableExists(target)) {
      if (ifNotExists) return null;
      throw new TableAlreadyExistsException(target);
    }
    if (source instanceof DeltaTable) {
      DeltaTable like = (DeltaTable) source;
      Column[] columns = columns(like.schema());
      if (SessionCatalog.ours(target, properties)) {
        catalog.createLike(target, like, columns, properties);
      } else {
        catalog.createTable(target, columns, like.partitioning(), properties);
      }
      return null;
    }
    CatalogTable like = (CatalogTable) source;
    HashMap all = new HashMap();
    // what a view has are the settings of its query
    if (like.tableType() != CatalogTableType$.MODULE$.VIEW()) all.putAll(Scala.map(like.properties()));
    if (like.comment().isDefined()) all.put("comment", like.comment().get());
    all.putAll(properties);
    Transform[] partitions = new Transform[like.partitionColumnNames().size()];
    for (int i = 0; i < partitions.length; i++) {
      partitions[i] = Expressions.identity((String) like.partitionColumnNames().apply(i));
    }
    catalog.createTable(target, columns(like.schema()), partitions, all);
    return null;
  }
}
