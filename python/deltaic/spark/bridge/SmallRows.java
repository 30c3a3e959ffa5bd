package deltaic.spark;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.catalyst.plans.logical.RebalancePartitions;
import org.apache.spark.sql.catalyst.plans.logical.Repartition;
import org.apache.spark.sql.catalyst.plans.logical.RepartitionByExpression;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.sql.execution.arrow.ArrowConverters$;
import org.apache.spark.storage.RDDInfo;
import scala.Function1;
import scala.collection.Iterator;
import scala.math.BigInt;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction1;

/** Rows that the driver has, or can count up, itself: literals, VALUES, a range, and what is computed of one of these. */
public final class SmallRows {
  /** Bytes of a batch: as many as there are. */
  private static final long ALL = Long.MAX_VALUE;
  /** Tasks that may each send as many rows as are few. */
  private static final int FEW_TASKS = 10;

  private SmallRows() {}

  /**
   * Whether the optimizer knows that there are at most `few` rows, or `held` where it has them. Rows for which a number of
   * tasks was asked for are not small: those tasks write them.
   */
  public static boolean small(Dataset data, int few, int held) {
    LogicalPlan plan = data.queryExecution().optimizedPlan();
    scala.Option most = plan.maxRows();
    if (spread(plan)) return false;
    return most.isDefined() && ((Number) most.get()).longValue() <= (plan instanceof LocalRelation ? held : few);
  }

  /** Whether a query says how many tasks, more than one, its rows are spread over. */
  static boolean spread(LogicalPlan plan) {
    return plan.exists(new AbstractFunction1() {
      public Object apply(Object node) {
        return Boolean.valueOf(spreads(node));
      }
    });
  }

  /** Whether rows were to be spread over more than one task: repartition, coalesce, and the hints of these names. */
  private static boolean spreads(Object node) {
    scala.Option number = scala.Option.empty();
    if (node instanceof Repartition) number = scala.Option.apply(Integer.valueOf(((Repartition) node).numPartitions()));
    if (node instanceof RepartitionByExpression) number = ((RepartitionByExpression) node).optNumPartitions();
    if (node instanceof RebalancePartitions) number = ((RebalancePartitions) node).optNumPartitions();
    return number.isDefined() && ((Number) number.get()).intValue() > 1;
  }

  /**
   * An Arrow stream of the rows, at most so many, without a job, in Base64: Python takes text as it comes, and bytes one by one.
   * Null where a job is needed.
   */
  public static String arrow(Dataset data, int most) {
    LocalRelation rows = computed(data, most);
    if (rows == null) return null;
    return text(rows.data().isEmpty()
        ? ArrowConverters$.MODULE$.createEmptyArrowBatch(data.schema(), zone(data), true, false)
        : arrow(data, rows.data().iterator(), most));
  }

  /** As `arrow`, of all rows, by a job where one is needed: their number is known. */
  public static String all(Dataset data, int most) {
    String here = arrow(data, most);
    if (here != null) return here;
    InternalRow[] rows = collected(data.queryExecution(), WriteExecution.NAME);
    if (rows.length == 0) return text(ArrowConverters$.MODULE$.createEmptyArrowBatch(data.schema(), zone(data), true, false));
    return text(arrow(data, Scala.seq(Arrays.asList((Object[]) rows)).iterator(), rows.length));
  }

  /** As `arrow`, by one job; empty where there are no rows. Null where there are more. */
  public static String fetched(Dataset data, int most) {
    scala.collection.immutable.Seq rows = collected(data, most);
    return rows == null ? null : text(arrow(data, rows.iterator(), most));
  }

  private static String text(byte[] stream) {
    return Base64.getEncoder().encodeToString(stream);
  }

  /** A frame of the rows, at most so many, which one job computes and the driver has from then on. Null where there are more. */
  public static Dataset taken(Dataset data, int most) {
    scala.collection.immutable.Seq rows = collected(data, most);
    return rows == null ? null : frame(data, rows);
  }

  /** As `taken`, of rows that were computed and are kept in at most so many bytes: one job fetches them. */
  public static Dataset kept(Dataset data, int most, long bytes) {
    LogicalPlan plan = data.queryExecution().analyzed();
    if (!(plan instanceof LogicalRDD)) return null;
    int id = ((LogicalRDD) plan).rdd().id();
    RDDInfo[] all = data.sparkSession().sparkContext().getRDDStorageInfo();
    for (int i = 0; i < all.length; i++) {
      if (all[i].id() == id) return all[i].memSize() + all[i].diskSize() > bytes ? null : taken(data, most);
    }
    return null;
  }

  /**
   * The rows, at most so many, of an RDD of a few tasks. Each task gives one row beyond them at most, so that the driver gets
   * no more than it can hold however many rows there are.
   */
  private static scala.collection.immutable.Seq collected(Dataset data, int most) {
    LogicalPlan plan = data.queryExecution().analyzed();
    if (tasks(plan) > FEW_TASKS || WriteExecution.observes(plan)) return null;
    LogicalPlan some = new LocalLimit(Literal$.MODULE$.apply(Integer.valueOf(most + 1)), plan);
    InternalRow[] rows = collected(DeltaCommand.rows(data.sparkSession(), some).queryExecution(), scala.Option.empty());
    return rows.length > most ? null : Scala.seq(Arrays.asList((Object[]) rows));
  }

  private static InternalRow[] collected(final QueryExecution query, scala.Option name) {
    return (InternalRow[]) SQLExecution$.MODULE$.withNewExecutionId(query, name, new AbstractFunction0() {
      public Object apply() {
        return query.executedPlan().executeCollect();
      }
    });
  }

  /** The tasks that compute a query of RDDs. */
  private static long tasks(LogicalPlan plan) {
    long tasks = 0;
    java.util.List leaves = Scala.list(plan.collectLeaves());
    for (int i = 0; i < leaves.size(); i++) {
      if (!(leaves.get(i) instanceof LogicalRDD)) return Long.MAX_VALUE;
      tasks += ((LogicalRDD) leaves.get(i)).rdd().getNumPartitions();
    }
    return tasks;
  }

  private static Dataset frame(Dataset data, scala.collection.immutable.Seq rows) {
    return org.apache.spark.sql.classic.Dataset$.MODULE$.ofRows(
        (org.apache.spark.sql.classic.SparkSession) data.sparkSession(),
        new LocalRelation(data.queryExecution().analyzed().output(), rows, false, scala.Option.empty()));
  }

  private static String zone(Dataset data) {
    return data.sparkSession().sessionState().conf().sessionLocalTimeZone();
  }

  private static byte[] arrow(Dataset data, Iterator rows, int most) {
    Iterator batches = ArrowConverters$.MODULE$.toBatchWithSchemaIterator(rows, data.schema(), most, ALL,
        zone(data), true, false);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    while (batches.hasNext()) {
      byte[] batch = (byte[]) batches.next();
      out.write(batch, 0, batch.length);
    }
    return out.toByteArray();
  }

  /**
   * A frame of the rows, whose values are computed now and no more: at most `most` rows without a job, or at most `few` by
   * one, if the optimizer takes them for so many bytes or less. Null where there are more. Its columns are those of the
   * frame, for whoever has them.
   */
  public static Dataset held(Dataset data, int most, int few, long bytes) {
    LocalRelation here = computed(data, most);
    scala.collection.immutable.Seq rows = here == null ? fetched(data, few, bytes) : here.data();
    return rows == null ? null : frame(data, rows);
  }

  /** The rows, at most so many. A job ends when there are more. */
  private static scala.collection.immutable.Seq fetched(Dataset data, final int few, long bytes) {
    final QueryExecution query = data.queryExecution();
    LogicalPlan plan = query.optimizedPlan();
    if (WriteExecution.observes(plan)) return null;
    if (plan.maxRows().isDefined() && ((Number) plan.maxRows().get()).longValue() > few) return null;
    if (plan.stats().sizeInBytes().$greater(BigInt.apply(bytes))) return null;
    Object rows = SQLExecution$.MODULE$.withNewExecutionId(query, scala.Option.empty(), new AbstractFunction0() {
      public Object apply() {
        return query.executedPlan().executeTake(few + 1);
      }
    });
    return ((InternalRow[]) rows).length > few ? null : Scala.seq(Arrays.asList((Object[]) rows));
  }

  /** The rows, at most so many; null where a job must compute them. */
  private static LocalRelation computed(Dataset data, final int most) {
    LogicalPlan plan = (LogicalPlan) data.queryExecution().optimizedPlan().transformUp(
        new scala.runtime.AbstractPartialFunction() {
          public boolean isDefinedAt(Object node) {
            return node instanceof OneRowRelation
                || node instanceof Range && ((Range) node).numElements().toLong() <= most
                || node instanceof Repartition && !spreads(node);
          }

          public Object applyOrElse(Object node, Function1 otherwise) {
            if (!isDefinedAt(node)) return otherwise.apply(node);
            return node instanceof Repartition ? ((Repartition) node).child() : listed((LogicalPlan) node);
          }
        });
    // one that is over another waits for it
    for (LogicalPlan before = null; plan != before; ) {
      before = plan;
      plan = (LogicalPlan) ConvertToLocalRelation$.MODULE$.apply(plan);
    }
    if (!(plan instanceof LocalRelation)) return null;
    return ((LocalRelation) plan).data().size() > most ? null : (LocalRelation) plan;
  }

  /** The rows of a leaf. */
  private static LocalRelation listed(LogicalPlan leaf) {
    ArrayList rows = new ArrayList();
    if (leaf instanceof Range) {
      Range range = (Range) leaf;
      long count = range.numElements().toLong();
      for (long i = 0; i < count; i++) {
        rows.add(RowFactory.create(new Object[] {Long.valueOf(range.start() + i * range.step())}));
      }
    } else {
      rows.add(RowFactory.create(new Object[0]));
    }
    return LocalRelation.fromExternalRows(leaf.output(), Scala.seq(rows));
  }
}
