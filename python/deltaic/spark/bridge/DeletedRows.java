package deltaic.spark;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.BitwiseAnd;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.ShiftRight;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.types.BooleanType$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.IntegerType$;
import org.apache.spark.sql.types.ObjectType;
import org.roaringbitmap.IntConsumer;
import org.roaringbitmap.RoaringBitmap;

/**
 * The rows that deletion vectors delete, for tasks to ask of each row: as bits while these take little memory, which answers
 * in a few nanoseconds, and as RoaringBitmap beyond.
 *
 * A vector has a code: the number of its broadcast in the high 32 bits, its place in that in the low ones, with BITS added
 * where it is there as bits.
 */
final class DeletedRows {
  private static final int BITS = Integer.MIN_VALUE;
  /** Bytes that the bits of one broadcast take at most: 128 million rows. */
  private static final long ROOM = 16L << 20;

  /** What is broadcast: a BitSet or a RoaringBitmap each. */
  final ArrayList sets = new ArrayList();
  private long room = ROOM;

  /** The code of a vector, which begins at the position of `from` and has so many bytes. */
  long add(ByteBuffer from, int length, int broadcast) {
    int place = sets.size();
    RoaringBitmap rows = read(from, length);
    // the positions of rows are unsigned
    int end = rows.isEmpty() ? 0 : rows.last();
    long bytes = (end >>> 6) * 8L + 8;
    if (end >= 0 && bytes <= room) {
      room -= bytes;
      place |= BITS;
      sets.add(bits(rows, end));
    } else {
      sets.add(rows);
    }
    return (long) broadcast << 32 | place & 0xffffffffL;
  }

  private static BitSet bits(RoaringBitmap rows, int end) {
    final BitSet bits = new BitSet(end + 1);
    rows.forEach(new IntConsumer() {
      public void accept(int row) {
        bits.set(row);
      }
    });
    return bits;
  }

  private static RoaringBitmap read(ByteBuffer part, int length) {
    try {
      part.limit(length);
      RoaringBitmap bitmap = new RoaringBitmap();
      bitmap.deserialize(part);
      return bitmap;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Whether the vector with this code deletes the row: by classes of Java, Spark and RoaringBitmap only, which every executor
   * has. `broadcasts` refers to an ArrayList of the broadcasts.
   */
  static Expression contain(AtomicReference broadcasts, Expression code, Expression rowIndex) {
    Expression place = asInt(code), row = asInt(rowIndex);
    Expression list = invoke(Literal.fromObject(broadcasts, type(AtomicReference.class)), "get", type(ArrayList.class));
    Expression broadcast = invoke(list, "get", type(Broadcast.class), asInt(new ShiftRight(code, number(32))));
    Expression sets = invoke(broadcast, "value", type(ArrayList.class));
    Expression bits = invoke(sets, "get", type(BitSet.class), new BitwiseAnd(place, number(~BITS)));
    Expression bitmap = invoke(sets, "get", type(RoaringBitmap.class), place);
    return new If(new LessThan(place, number(0)),
        new And(new GreaterThanOrEqual(row, number(0)), invoke(bits, "get", BooleanType$.MODULE$, row)),
        invoke(bitmap, "contains", BooleanType$.MODULE$, row));
  }

  private static Expression invoke(Expression target, String method, DataType result, Expression... given) {
    return new Invoke(
        target, method, result, Scala.seq(Arrays.asList((Object[]) given)), Scala.none(), true, false, true);
  }

  private static DataType type(Class c) {
    return new ObjectType(c);
  }

  private static Expression number(int value) {
    return new Literal(Integer.valueOf(value), IntegerType$.MODULE$);
  }

  /** The low 32 bits. */
  private static Expression asInt(Expression e) {
    return new Cast(e, IntegerType$.MODULE$, Scala.nothing(), EvalMode$.MODULE$.LEGACY());
  }
}
