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
import org.apache.spark.sql.catalyst.plans.logical.Filter;
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
import scala.Product;

/**
 * Takes writes that Spark's resolution would refuse, or get wrong, before it: with the hints. Those with the option
 * `mergeSchema`, INSERT WITH SCHEMA EVOLUTION, those of more columns where the session merges schemas, and rows by name whose
 * structs lack fields go to the writer, which adds what the table lacks; their values are cast. The rows of `replaceOn` and
 * `replaceUsing`, or REPLACE ON and USING, are marked, and those of all others by position. In Spark 4.0 writes by name that
 * lack columns of the table get their defaults.
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
        if (taken == null) taken = marked(node);
        return taken == null ? otherwise.apply(node) : taken;
      }
    });
  }

  /** A write by position into a table of ours, its rows marked, or null. */
  private LogicalPlan marked(Object node) {
    if (node instanceof InsertIntoStatement) {
      InsertIntoStatement insert = (InsertIntoStatement) node;
      LogicalPlan query = FieldNames.marked(insert);
      if (query == null || ours(insert.table()) == null) return null;
      Object[] parts = parts(insert);
      for (int i = 0; i < parts.length; i++) {
        if (parts[i] == insert.query()) parts[i] = query;
      }
      return (LogicalPlan) insert.makeCopy(parts);
    }
    if (!(node instanceof V2WriteCommand)) return null;
    V2WriteCommand write = (V2WriteCommand) node;
    LogicalPlan query = (LogicalPlan) write.query();
    boolean goesByPlace = !write.isByName() && !FieldNames.isMarked(query) && ours(write.table()) != null;
    return goesByPlace ? (LogicalPlan) write.withNewQuery(FieldNames.marked(query, false)) : null;
  }

  private static Object[] parts(InsertIntoStatement insert) {
    Object[] parts = new Object[insert.productArity()];
    for (int i = 0; i < parts.length; i++) parts[i] = insert.productElement(i);
    return parts;
  }

  /** What an INSERT into a table of ours is that Spark would refuse, or null. */
  private LogicalPlan insert(InsertIntoStatement insert) {
    boolean evolves = refused(insert) || evolves(insert);
    // what evolution does not take, such as PARTITION, goes on without it; a list of columns names those of the table
    boolean may = !evolves && autoMerge() && insert.partitionSpec().isEmpty() && insert.userSpecifiedCols().isEmpty();
    if (!evolves && !may && (fills || !insert.partitionSpec().isEmpty())) return null;
    DeltaTable table = ours(insert.table());
    if (table == null) return null;
    evolves |= may && lacks(renamed(insert, table.schema()).schema(), table.schema());
    if (!evolves && (fills || !insert.partitionSpec().isEmpty())) return null;
    if (evolves && "ON or USING".equals(replaces(insert))) return write(PlacedRows.overwrite(insert, table), true);
    if (evolves) return evolved(insert, table);
    List given = given(insert);
    DataSourceV2Relation some = given == null ? null : lacking(table, given);
    if (some == null) return null;
    Object[] parts = parts(insert);
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
    if (!evolves && !may && !marks && !byName) return null;
    DeltaTable table = ours(write.table());
    if (table == null) return null;
    LogicalPlan query = analyzed((LogicalPlan) write.query());
    List places = Arrays.asList((Object[]) table.schema().fieldNames());
    if (may) evolves = lacks((byName ? query : named(query, places)).schema(), table.schema());
    if (marks) {
      write = write.withNewQuery(PlacedRows.marked(query, byName));
      query = analyzed((LogicalPlan) write.query());
    }
    // Spark refuses a struct that lacks fields, and the writer does not
    boolean lacks = byName && lacksFields(query.schema(), table.schema());
    if (!evolves && !lacks) {
      boolean narrows = !fills && byName && !hasCondition(write);
      DataSourceV2Relation some = narrows ? lacking(table, names(query)) : null;
      if (some != null) return (LogicalPlan) write.withNewTable(some);
      return marks ? (LogicalPlan) write : null;
    }
    if (!byName) query = named(query, places);
    if (!is(options, "overwriteSchema")) query = fitted(query, table.table, evolves);
    if (!hasCondition(write)) return RouteWrites.write(write.withNewQuery(query), table.table);
    if (table.table.timeTravel) {
      throw Refusal.of("INSERT into an old version", "name the table without a version", table.table.path);
    }
    HashMap given = new HashMap();
    given.put("replaceWhere", resolved(((OverwriteByExpression) write).deleteExpr(), table));
    given.putAll(options);
    return RouteWrites.write(table.table, "overwrite", given, query);
  }

  /** A condition on a table as text, its names and functions resolved. */
  private String resolved(Expression condition, DeltaTable table) {
    LogicalPlan at =
        analyzed(new Filter(condition, DataSourceV2Relation.create(table, Scala.nothing(), Scala.nothing())));
    while (!(at instanceof Filter)) at = (LogicalPlan) at.children().apply(0);
    return RouteWrites.text(((Filter) at).condition());
  }

  /** Whether a write replaces what matches a condition, which is not resolved yet. */
  private static boolean hasCondition(V2WriteCommand write) {
    return write instanceof OverwriteByExpression
        && !((OverwriteByExpression) write).deleteExpr().equals(Literal$.MODULE$.TrueLiteral());
  }

  /** The options of a write of a DataFrame, or null. */
  private static Map options(Object node) {
    if (node instanceof AppendData) return Scala.map(((AppendData) node).writeOptions());
    if (node instanceof OverwritePartitionsDynamic) return Scala.map(((OverwritePartitionsDynamic) node).writeOptions());
    return node instanceof OverwriteByExpression ? Scala.map(((OverwriteByExpression) node).writeOptions()) : null;
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

  private LogicalPlan evolved(InsertIntoStatement insert, DeltaTable named) {
    OpenTable table = named.table;
    if (insert.ifPartitionNotExists()) {
      throw Refusal.of("INSERT OVERWRITE … PARTITION … IF NOT EXISTS", "leave IF NOT EXISTS out", table.path);
    }
    boolean replaces = "WHERE".equals(replaces(insert));
    if (!insert.partitionSpec().isEmpty()) {
      throw Refusal.of("INSERT WITH SCHEMA EVOLUTION … PARTITION", "give the partition columns in the query", table.path);
    }
    if (table.timeTravel) throw Refusal.of("INSERT into an old version", "name the table without a version", table.path);
    LogicalPlan query = fitted(renamed(insert, table.schema), table, true);
    HashMap options = new HashMap();
    options.put("mergeSchema", "true");
    if (replaces) {
      Product criteria = (Product) ((Option) insert.productElement(7)).get();
      options.put("replaceWhere", resolved((Expression) criteria.productElement(0), named));
    }
    return RouteWrites.write(table, replaces || insert.overwrite() ? "overwrite" : "append", options, query);
  }

  private LogicalPlan fitted(LogicalPlan query, OpenTable table, boolean evolves) {
    boolean widens = evolves && "true".equals(table.properties.get("delta.enableTypeWidening"));
    return FittedRows.of(session, query, table.schema, widens);
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
    StructField[] given = ((StructType) rows).fields();
    for (int i = 0; i < given.length; i++) {
      StructField found = FittedRows.field((StructType) table, given[i].name());
      if (found == null || lacks(given[i].dataType(), found.dataType())) return true;
    }
    return false;
  }

  /** Whether structs of rows, at any depth, lack fields of the table's, which are null then. */
  private static boolean lacksFields(StructType rows, StructType table) {
    StructField[] there = table.fields();
    for (int i = 0; i < there.length; i++) {
      StructField given = FittedRows.field(rows, there[i].name());
      if (given != null && lacks(there[i].dataType(), given.dataType())) return true;
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
    return is(options, "mergeSchema");
  }

  private static boolean is(Map options, String option) {
    Iterator names = options.keySet().iterator();
    while (names.hasNext()) {
      String name = (String) names.next();
      if (name.equalsIgnoreCase(option)) return String.valueOf(options.get(name)).equalsIgnoreCase("true");
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
