package deltaic.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.AppendData;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OverwriteByExpression;
import org.apache.spark.sql.catalyst.plans.logical.OverwritePartitionsDynamic;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Option;

/**
 * Sends writes with the option `mergeSchema`, INSERT WITH SCHEMA EVOLUTION, and where the session merges schemas those of
 * more columns to the writer, which adds the columns that the table lacks, and marks the rows of those with `replaceOn` and `replaceUsing`, or REPLACE ON and USING; in Spark 4.0 also those by name that lack columns of the table, which get their defaults. It runs before
 * the resolution, in which Spark would refuse them: with the hints.
 */
public final class EvolveWrites extends Rule {
  private static final String AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled";

  private final SparkSession session;
  /** Whether Spark gives columns that a write leaves out their defaults. */
  private final boolean fills;

  EvolveWrites(SparkSession session) {
    this.session = session;
    fills = !session.version().startsWith("4.0.");
  }

  public TreeNode apply(TreeNode plan) {
    return (TreeNode) ((LogicalPlan) plan).resolveOperators(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return node instanceof InsertIntoStatement || node instanceof V2WriteCommand;
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        LogicalPlan taken = null;
        if (node instanceof InsertIntoStatement) taken = insert((InsertIntoStatement) node);
        if (node instanceof V2WriteCommand) taken = write((V2WriteCommand) node, false);
        return taken == null ? otherwise.apply(node) : taken;
      }
    });
  }

  /** What an INSERT into a table of ours is that Spark would refuse, or null. */
  private LogicalPlan insert(InsertIntoStatement insert) {
    boolean evolves = refused(insert) || evolves(insert);
    // what evolution does not take, such as PARTITION, goes on without it; a list of columns names those of the table
    boolean may = !evolves && autoMerge() && insert.partitionSpec().isEmpty() && insert.userSpecifiedCols().isEmpty()
        && !"WHERE".equals(replaces(insert));
    if (!evolves && !may && (fills || !insert.partitionSpec().isEmpty())) return null;
    DeltaTable table = ours(insert.table());
    if (table == null) return null;
    evolves |= may && lacks(renamed(insert, table.schema()).schema(), table.schema());
    if (!evolves && (fills || !insert.partitionSpec().isEmpty())) return null;
    if (evolves && "ON or USING".equals(replaces(insert))) return write(PlacedRows.overwrite(insert, table), true);
    if (evolves) return evolved(insert, table.table);
    List given = given(insert);
    DataSourceV2Relation some = given == null ? null : lacking(table, given);
    if (some == null) return null;
    Object[] parts = new Object[insert.productArity()];
    for (int i = 0; i < parts.length; i++) parts[i] = insert.productElement(i);
    parts[0] = some;
    return (LogicalPlan) insert.makeCopy(parts);
  }

  /** What a write into a table of ours is that Spark would refuse, or null. `replaces` says that it is REPLACE ON or USING. */
  private LogicalPlan write(V2WriteCommand write, boolean replaces) {
    Map options = options(write);
    if (options == null) return null;
    boolean evolves = merges(options), byName = write.isByName();
    boolean may = !evolves && !replaces && autoMerge() && !says(options);
    // `overwrite` of a DataFrameWriterV2 says itself what is overwritten
    boolean marks = replaces || !byName && write instanceof OverwriteByExpression && PlacedRows.replaces(options)
        && !PlacedRows.isMarked((LogicalPlan) write.query());
    if (!evolves && !may && !marks && (fills || !byName)) return null;
    DeltaTable table = ours(write.table());
    if (table == null) return null;
    if (may) {
      LogicalPlan query = analyzed((LogicalPlan) write.query());
      if (!byName) query = named(query, Arrays.asList((Object[]) table.schema().fieldNames()));
      evolves = lacks(query.schema(), table.schema());
      if (!evolves && !marks && (fills || !byName)) return null;
    }
    if (marks) write = write.withNewQuery(PlacedRows.marked(analyzed((LogicalPlan) write.query()), byName));
    if (!evolves) {
      DataSourceV2Relation some = fills || !byName ? null : lacking(table, names((LogicalPlan) write.query()));
      if (some != null) return (LogicalPlan) write.withNewTable(some);
      return marks ? (LogicalPlan) write : null;
    }
    if (!write.isByName()) write = write.withNewQuery(
        named(analyzed((LogicalPlan) write.query()), Arrays.asList((Object[]) table.schema().fieldNames())));
    return RouteWrites.write(write, table.table);
  }

  /** The options of a write of a DataFrame, or null. */
  private static Map options(Object node) {
    if (node instanceof AppendData) return Scala.map(((AppendData) node).writeOptions());
    if (node instanceof OverwritePartitionsDynamic) return Scala.map(((OverwritePartitionsDynamic) node).writeOptions());
    if (!(node instanceof OverwriteByExpression)) return null;
    OverwriteByExpression overwrite = (OverwriteByExpression) node;
    // other conditions are not resolved yet
    return overwrite.deleteExpr().equals(Literal$.MODULE$.TrueLiteral()) ? Scala.map(overwrite.writeOptions()) : null;
  }

  private DeltaTable ours(Object relation) {
    if (ResolveReads.isOurs(relation)) return (DeltaTable) ((DataSourceV2Relation) relation).table();
    return relation instanceof UnresolvedRelation ? named(((UnresolvedRelation) relation).multipartIdentifier()) : null;
  }

  /** The names that an INSERT gives columns of, or null where it gives all by their places. */
  private List given(InsertIntoStatement insert) {
    if (!insert.userSpecifiedCols().isEmpty()) return Scala.list(insert.userSpecifiedCols());
    return insert.byName() ? names((LogicalPlan) insert.query()) : null;
  }

  private List names(LogicalPlan query) {
    return Arrays.asList((Object[]) analyzed(query).schema().fieldNames());
  }

  /** The table with only the columns that are given, or null where these are all. */
  private static DataSourceV2Relation lacking(DeltaTable table, List given) {
    StructField[] fields = table.schema().fields();
    ArrayList some = new ArrayList();
    for (int f = 0; f < fields.length; f++) {
      boolean found = false;
      for (int i = 0; i < given.size(); i++) found |= fields[f].name().equalsIgnoreCase((String) given.get(i));
      if (found) some.add(fields[f]);
    }
    if (some.size() == fields.length) return null;
    StructType schema = new StructType((StructField[]) some.toArray(new StructField[0]));
    return DataSourceV2Relation.create(new DeltaTable(table, schema), Scala.nothing(), Scala.nothing());
  }

  /** WITH SCHEMA EVOLUTION, which Spark 4.3 has, or the option. */
  private static boolean evolves(InsertIntoStatement insert) {
    if (insert.productArity() > 8 && Boolean.TRUE.equals(insert.productElement(8))) return true;
    return insert.table() instanceof UnresolvedRelation
        && merges(((UnresolvedRelation) insert.table()).options().asCaseSensitiveMap());
  }

  /** Of what no DSv2 table takes. */
  private static boolean refused(InsertIntoStatement insert) {
    return insert.ifPartitionNotExists() || "ON or USING".equals(replaces(insert));
  }

  /** What follows REPLACE, which Spark 4.3 has here, or null. */
  private static String replaces(InsertIntoStatement insert) {
    Object criteria = insert.productArity() > 7 ? insert.productElement(7) : Scala.nothing();
    if (((Option) criteria).isEmpty()) return null;
    String kind = ((Option) criteria).get().getClass().getSimpleName();
    return kind.equals("InsertReplaceWhere") ? "WHERE" : "ON or USING";
  }

  private LogicalPlan evolved(InsertIntoStatement insert, OpenTable table) {
    if (insert.ifPartitionNotExists()) {
      throw Refusal.of("INSERT OVERWRITE … PARTITION … IF NOT EXISTS", "leave IF NOT EXISTS out", table.path);
    }
    String replaces = replaces(insert);
    if ("WHERE".equals(replaces)) {
      throw Refusal.of("INSERT WITH SCHEMA EVOLUTION … REPLACE WHERE", "ALTER TABLE … ADD COLUMNS first", table.path);
    }
    if (!insert.partitionSpec().isEmpty()) {
      throw Refusal.of("INSERT WITH SCHEMA EVOLUTION … PARTITION", "give the partition columns in the query", table.path);
    }
    if (table.timeTravel) throw Refusal.of("INSERT into an old version", "name the table without a version", table.path);
    LogicalPlan query = renamed(insert, table.schema);
    HashMap options = new HashMap();
    options.put("mergeSchema", "true");
    return RouteWrites.write(table, insert.overwrite() ? "overwrite" : "append", options, query);
  }

  /** The query of an INSERT, its columns by the names of those that they go to. */
  private LogicalPlan renamed(InsertIntoStatement insert, StructType table) {
    LogicalPlan query = analyzed((LogicalPlan) insert.query());
    List columns = Scala.list(insert.userSpecifiedCols());
    if (!columns.isEmpty()) return named(query, columns);
    return insert.byName() ? query : named(query, Arrays.asList((Object[]) table.fieldNames()));
  }

  private boolean autoMerge() {
    return "true".equalsIgnoreCase(session.conf().get(AUTO_MERGE, "false"));
  }

  /** Whether rows have columns, or fields, that a table does not have. */
  private static boolean lacks(DataType rows, DataType table) {
    if (rows instanceof ArrayType && table instanceof ArrayType) {
      return lacks(((ArrayType) rows).elementType(), ((ArrayType) table).elementType());
    }
    if (rows instanceof MapType && table instanceof MapType) {
      MapType given = (MapType) rows, there = (MapType) table;
      return lacks(given.keyType(), there.keyType()) || lacks(given.valueType(), there.valueType());
    }
    if (!(rows instanceof StructType) || !(table instanceof StructType)) return false;
    StructField[] given = ((StructType) rows).fields(), there = ((StructType) table).fields();
    for (int i = 0; i < given.length; i++) {
      StructField found = null;
      for (int k = 0; k < there.length && found == null; k++) {
        if (there[k].name().equalsIgnoreCase(given[i].name())) found = there[k];
      }
      if (found == null || lacks(given[i].dataType(), found.dataType())) return true;
    }
    return false;
  }

  /** Whether a write says itself that columns join, or that none do. */
  private static boolean says(Map options) {
    for (Iterator names = options.keySet().iterator(); names.hasNext(); ) {
      if ("mergeSchema".equalsIgnoreCase((String) names.next())) return true;
    }
    return false;
  }

  private static boolean merges(Map options) {
    Iterator names = options.keySet().iterator();
    while (names.hasNext()) {
      String name = (String) names.next();
      if (name.equalsIgnoreCase("mergeSchema")) return String.valueOf(options.get(name)).equalsIgnoreCase("true");
    }
    return false;
  }

  private DeltaTable named(scala.collection.Seq name) {
    org.apache.spark.sql.internal.SessionState state =
        ((org.apache.spark.sql.classic.SparkSession) session).sessionState();
    if (state.catalog().isTempView((scala.collection.immutable.Seq) name)) return null;
    CatalogManager catalogs = state.catalogManager();
    ArrayList parts = new ArrayList(Scala.list(name));
    if (parts.size() > 2 && "spark_catalog".equalsIgnoreCase((String) parts.get(0))) parts.remove(0);
    String[] namespace = catalogs.currentNamespace();
    if (parts.size() == 1 && !catalogs.currentCatalog().name().equals("spark_catalog")) return null;
    if (parts.size() == 2) namespace = new String[] {(String) parts.get(0)};
    if (parts.size() > 2) return null;
    try {
      Identifier id = Identifier.of(namespace, (String) parts.get(parts.size() - 1));
      Table table = ((TableCatalog) catalogs.v2SessionCatalog()).loadTable(id);
      return table instanceof DeltaTable && ((DeltaTable) table).table != null ? (DeltaTable) table : null;
    } catch (NoSuchTableException e) {
      return null;
    }
  }

  /** The query with its columns known: a rule that ran before this one may have touched it. */
  private LogicalPlan analyzed(LogicalPlan query) {
    return Dataset$.MODULE$.ofRows((org.apache.spark.sql.classic.SparkSession) session, query).queryExecution().analyzed();
  }

  /** The query with these names of columns, as far as there are; more columns keep theirs. */
  private static LogicalPlan named(LogicalPlan query, List names) {
    List output = Scala.list(query.output());
    ArrayList columns = new ArrayList();
    for (int i = 0; i < output.size(); i++) {
      Expression column = (Expression) output.get(i);
      if (i < names.size()) {
        columns.add(new Alias(column, (String) names.get(i), NamedExpression.newExprId(), Scala.none(),
            Scala.nothing(), Scala.none()));
      } else {
        columns.add(column);
      }
    }
    return new Project(Scala.seq(columns), query);
  }
}
