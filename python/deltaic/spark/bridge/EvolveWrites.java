package deltaic.spark;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Expression;
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
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Option;

/**
 * Takes writes into tables of ours before Spark's resolution would fit their rows, or refuse them: with the hints. Their rows
 * come as they are given, and RouteWrites makes them fit. The rows of `replaceOn` and `replaceUsing`, or REPLACE ON and USING, are
 * marked.
 */
public final class EvolveWrites extends Rule {
  private final SparkSession session;

  EvolveWrites(SparkSession session) {
    this.session = session;
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

  /** An INSERT into a table of ours that takes its rows as they are, or null. */
  private LogicalPlan insert(InsertIntoStatement insert) {
    DeltaTable table = read(insert.table());
    if (table == null) return null;
    if (insert.ifPartitionNotExists()) {
      throw Refusal.of("INSERT OVERWRITE … PARTITION … IF NOT EXISTS", "leave IF NOT EXISTS out", table.table.path);
    }
    if (replacesMatches(insert)) return write(PlacedRows.overwrite(insert, table), true);
    Object[] parts = new Object[insert.productArity()];
    for (int i = 0; i < parts.length; i++) parts[i] = insert.productElement(i);
    boolean evolves = evolves(insert);
    int listed = insert.userSpecifiedCols().isEmpty() ? 0 : hasValue(insert.partitionSpec()) ? 2 : 1;
    parts[0] = relation(table, evolves, listed);
    if (parts.length > 8) parts[8] = Boolean.FALSE;
    if (evolves && lacks(table.schema(), insert.userSpecifiedCols())) {
      // Spark knows the names of a list only where the table has them
      parts[2] = Scala.none();
      parts[3] = named((LogicalPlan) insert.query(), Scala.list(insert.userSpecifiedCols()));
      parts[6] = Boolean.TRUE;
      parts[0] = relation(table, evolves, 0);
    }
    return (LogicalPlan) insert.makeCopy(parts);
  }

  private static boolean lacks(StructType table, scala.collection.Seq names) {
    for (int i = 0; i < names.size(); i++) {
      if (FittedRows.field(table, (String) names.apply(i)) == null) return true;
    }
    return false;
  }

  /** The query with these names of columns, as far as there are; more columns keep theirs. */
  private LogicalPlan named(LogicalPlan query, List names) {
    query = Dataset$.MODULE$.ofRows((org.apache.spark.sql.classic.SparkSession) session, query).queryExecution().analyzed();
    List output = Scala.list(query.output());
    ArrayList columns = new ArrayList();
    for (int i = 0; i < output.size(); i++) {
      Expression column = (Expression) output.get(i);
      columns.add(i >= names.size() ? column : new Alias(column, (String) names.get(i), NamedExpression.newExprId(),
          Scala.none(), Scala.nothing(), Scala.none()));
    }
    return new Project(Scala.seq(columns), query);
  }

  /** A write into a table of ours that takes its rows as they are, or null. `replaces` says that it is REPLACE ON or USING. */
  private LogicalPlan write(V2WriteCommand write, boolean replaces) {
    Map options = options(write);
    DeltaTable table = options == null ? null : read(write.table());
    if (table == null) return null;
    // `overwrite` of a DataFrameWriterV2 says itself what is overwritten
    boolean marks = replaces || !write.isByName() && write instanceof OverwriteByExpression && PlacedRows.replaces(options)
        && !PlacedRows.isMarked((LogicalPlan) write.query());
    if (marks) write = write.withNewQuery(PlacedRows.marked((LogicalPlan) write.query(), write.isByName()));
    return (LogicalPlan) write.withNewTable(relation(table, false, 0));
  }

  private static DataSourceV2Relation relation(DeltaTable table, boolean evolves, int listed) {
    return DataSourceV2Relation.create(new DeltaTable(table, evolves, listed), Scala.nothing(), Scala.nothing());
  }

  /** Whether a PARTITION clause has a value, which Spark adds to the rows as a column. */
  private static boolean hasValue(scala.collection.Map spec) {
    for (Iterator values = Scala.map(spec).values().iterator(); values.hasNext(); ) {
      if (((Option) values.next()).isDefined()) return true;
    }
    return false;
  }

  /** The options of a write of a DataFrame, or null. */
  private static Map options(Object node) {
    if (node instanceof AppendData) return Scala.map(((AppendData) node).writeOptions());
    if (node instanceof OverwritePartitionsDynamic) return Scala.map(((OverwritePartitionsDynamic) node).writeOptions());
    return node instanceof OverwriteByExpression ? Scala.map(((OverwriteByExpression) node).writeOptions()) : null;
  }

  /** The table of ours that a relation reads, or null. */
  private DeltaTable read(Object relation) {
    DeltaTable found = null;
    if (ResolveReads.isOurs(relation)) found = (DeltaTable) ((DataSourceV2Relation) relation).table();
    if (relation instanceof UnresolvedRelation) found = named(((UnresolvedRelation) relation).multipartIdentifier());
    return found == null || found.takesRows ? null : found;
  }

  /** WITH SCHEMA EVOLUTION, which Spark 4.3 has, or the option. */
  private static boolean evolves(InsertIntoStatement insert) {
    if (insert.productArity() > 8 && Boolean.TRUE.equals(insert.productElement(8))) return true;
    if (!(insert.table() instanceof UnresolvedRelation)) return false;
    return "true".equalsIgnoreCase(((UnresolvedRelation) insert.table()).options().get("mergeSchema"));
  }

  /** Whether an INSERT is REPLACE ON or USING, which Spark 4.3 has. */
  private static boolean replacesMatches(InsertIntoStatement insert) {
    Object criteria = insert.productArity() > 7 ? insert.productElement(7) : Scala.nothing();
    return !((Option) criteria).isEmpty()
        && !((Option) criteria).get().getClass().getSimpleName().equals("InsertReplaceWhere");
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
}
