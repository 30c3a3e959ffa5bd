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
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.AppendData;
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

/**
 * Sends writes with the option `mergeSchema` to the writer, which adds the columns that the table lacks. It runs before
 * the resolution, in which Spark would refuse them: with the hints.
 */
public final class EvolveWrites extends Rule {
  private final SparkSession session;

  EvolveWrites(SparkSession session) {
    this.session = session;
  }

  public TreeNode apply(TreeNode plan) {
    return (TreeNode) ((LogicalPlan) plan).resolveOperators(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return target(node) != null;
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        OpenTable table = target(node);
        if (table == null) return otherwise.apply(node);
        V2WriteCommand write = (V2WriteCommand) node;
        if (!write.isByName()) write = write.withNewQuery(named(analyzed((LogicalPlan) write.query()), table.schema));
        return RouteWrites.write(write, table);
      }
    });
  }

  /** The table of ours that a write with `mergeSchema` is to, or null. */
  private OpenTable target(Object node) {
    Map options = null;
    if (node instanceof AppendData) options = Scala.map(((AppendData) node).writeOptions());
    if (node instanceof OverwritePartitionsDynamic) {
      options = Scala.map(((OverwritePartitionsDynamic) node).writeOptions());
    }
    if (node instanceof OverwriteByExpression) {
      OverwriteByExpression overwrite = (OverwriteByExpression) node;
      // other conditions are not resolved yet
      if (overwrite.deleteExpr().equals(Literal$.MODULE$.TrueLiteral())) options = Scala.map(overwrite.writeOptions());
    }
    if (options == null || !merges(options)) return null;
    Object relation = ((V2WriteCommand) node).table();
    if (ResolveReads.isOurs(relation)) return ((DeltaTable) ((DataSourceV2Relation) relation).table()).table;
    return relation instanceof UnresolvedRelation ? named(((UnresolvedRelation) relation).multipartIdentifier()) : null;
  }

  private static boolean merges(Map options) {
    Iterator names = options.keySet().iterator();
    while (names.hasNext()) {
      String name = (String) names.next();
      if (name.equalsIgnoreCase("mergeSchema")) return String.valueOf(options.get(name)).equalsIgnoreCase("true");
    }
    return false;
  }

  private OpenTable named(scala.collection.Seq name) {
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
      return table instanceof DeltaTable ? ((DeltaTable) table).table : null;
    } catch (NoSuchTableException e) {
      return null;
    }
  }

  /** The query with its columns known: a rule that ran before this one may have touched it. */
  private LogicalPlan analyzed(LogicalPlan query) {
    return Dataset$.MODULE$.ofRows((org.apache.spark.sql.classic.SparkSession) session, query).queryExecution().analyzed();
  }

  /** The query with the names of the table's columns, as far as there are; more columns keep theirs. */
  private static LogicalPlan named(LogicalPlan query, StructType schema) {
    List output = Scala.list(query.output());
    ArrayList columns = new ArrayList();
    for (int i = 0; i < output.size(); i++) {
      Expression column = (Expression) output.get(i);
      if (i < schema.length()) {
        columns.add(new Alias(column, schema.fields()[i].name(), NamedExpression.newExprId(), Scala.none(),
            Scala.nothing(), Scala.none()));
      } else {
        columns.add(column);
      }
    }
    return new Project(Scala.seq(columns), query);
  }
}
