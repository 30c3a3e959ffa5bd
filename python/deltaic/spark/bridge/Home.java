package deltaic.spark;

import java.util.List;
import java.util.function.BiFunction;
import org.apache.spark.sql.classic.SparkSession;
import scala.Option;

/**
 * The classes that serve the active session. Each JAR that a client adds to its session makes the session a new class
 * loader with copies of them, which know nothing: they ask those that the rules of the session are of.
 */
final class Home {
  private static final String RULE = "deltaic.spark.DeletionVectorRule";

  private Home() {}

  /** The class loader of the classes that serve a session, or null where none do. */
  static ClassLoader of(SparkSession session) {
    List rules = Scala.list(session.experimental().extraOptimizations());
    for (int i = 0; i < rules.size(); i++) {
      Class rule = rules.get(i).getClass();
      if (rule.getName().equals(RULE)) return rule.getClassLoader();
    }
    return null;
  }

  /** A class of those that serve the active session, if they are others than these; else null. */
  static Class other(Class copy) {
    if (Python.serves()) return null;
    Option active = SparkSession.getActiveSession();
    ClassLoader home = active.isEmpty() ? null : of((SparkSession) active.get());
    if (home == null || home == copy.getClassLoader()) return null;
    try {
      return Class.forName(copy.getName(), true, home);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What answers there, or null: requests and answers have no classes of ours. */
  static BiFunction calls() {
    Class python = other(Python.class);
    try {
      return python == null ? null : (BiFunction) python.getMethod("calls", new Class[0]).invoke(null, new Object[0]);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The format's class there, or null. */
  static Object source() {
    Class source = other(DeltaSource.class);
    try {
      return source == null ? null : source.getConstructor(new Class[0]).newInstance(new Object[0]);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A loader that finds these classes, and all else as the thread's own does. */
  static ClassLoader within(ClassLoader threads) {
    ClassLoader own = Home.class.getClassLoader();
    try {
      if (threads == null || threads == own || threads.loadClass(Home.class.getName()) == Home.class) return threads;
    } catch (ClassNotFoundException e) {
      // a loader beside ours
    }
    return new Both(own, threads);
  }

  private static final class Both extends ClassLoader {
    private static final String OURS = "deltaic.spark.";
    private final ClassLoader own;

    Both(ClassLoader own, ClassLoader threads) {
      super(threads);
      this.own = own;
    }

    protected Class loadClass(String name, boolean resolve) throws ClassNotFoundException {
      return name.startsWith(OURS) ? own.loadClass(name) : super.loadClass(name, resolve);
    }
  }
}
